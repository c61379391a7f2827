// illegal: is for device code alone
#include <cooperative_groups.h>
void f() { cooperative_groups::this_thread_block().sync(); }
