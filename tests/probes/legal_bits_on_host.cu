// illegal: '__float_as_int' is for device code alone
int h() { return __float_as_int(2.0f); }
