// illegal: '__expf' is for device code alone
float h() { return rsqrtf(2.0f) + __expf(2); }
