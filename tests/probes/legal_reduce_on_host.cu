// illegal: '__reduce_max_sync' is for device code alone
int f(int x) { return __reduce_max_sync(~0u, x); }
