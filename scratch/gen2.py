L = []
for mode in (0, 1, 2):
    for li in (8, 16, 32): L.append(f'C2({li}, {mode}, 1, 4)')
    for mb in (1, 5, 6): L.append(f'C2(32, {mode}, 1, {mb})')
    L.append(f'C2(8, {mode}, 1, 5)')
    L.append(f'C2(32, {mode}, 0, 4)')
base = dict(sh='true', p=16, dn=64, li=32, a=0, L=16, od=1, hi=0, mb=4, th=256)
S = set()
def add(**k): S.add(tuple({**base, **k}.values()))
for li in (8, 32):
    add(li=li); add(li=li, p=32, L=32, mb=2); add(li=li, p=32, L=32, dn=128, mb=2); add(li=li, dn=128); add(li=li, p=32, L=32, dn=128, mb=2, th=512); add(li=li, p=17, L=8); add(li=li, p=33, L=8, dn=32); add(li=li, mb=5); add(li=li, mb=6); add(li=li, hi=1); add(li=li, hi=3); add(li=li, p=8, L=8, dn=128); add(li=li, p=8, L=8, dn=64)
base['sh'] = 'false'
add(); add(mb=5); add(mb=6); add(mb=8); add(hi=1); add(hi=3); add(p=32, L=32); add(p=32, L=32, dn=128, mb=2); add(dn=128); add(p=8, L=8, dn=128); add(p=8, L=8, dn=64); add(dn=32)
L += ['N(%s)' % ', '.join(map(str, s)) for s in sorted(S)] + ['O(1, 32, 64, 32, 0)', 'O(4, 64, 64, 32, 0)', 'O(4, 64, 64, 32, 1)', 'O(1, 32, 64, 32, 1)']
for i in range(16): open(f'g{i}.cu', 'w').write('#include "cand.cuh"\n' + '\n'.join(L[i::16]) + '\n')
print(len(L))
