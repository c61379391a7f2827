import subprocess,sys,resource,time,os,pathlib,re,filecmp
chapter,tree,old,new=sys.argv[1:5]
names=sys.argv[5:]
B='build'
os.chdir(B)
mods=sorted(str(p.name) for p in pathlib.Path('.').glob(f'{tree}.{chapter}.*.cpu.so'))
if names: mods=[m for m in mods if any(n in m for n in names)]
tot={old:0,new:0}; wall={old:0,new:0}; bad=0
for m in mods:
    stem=m[len(f'{tree}.{chapter}.'):-len('.cpu.so')]
    src=f'../solutions/{chapter}/{stem}.cu' if tree=='solutions' else f'{B}/{stem}.{chapter}.cu'
    res={}
    for b in ((old,new) if hash(m)%2 else (new,old)):
        cmd=['nice','-n','2',f'{b}/{chapter}-cpu','--step',m,'--source',src,'--rivals',f'solutions.{chapter}.','--reporter','step']
        if tree=='solutions': cmd+=['--solution']
        elif tree=='wrong': cmd+=['--abort']
        r0=resource.getrusage(resource.RUSAGE_CHILDREN); t=time.time()
        try: p=subprocess.run(cmd,capture_output=True,text=True,timeout=300,errors='replace'); res[b]=(p.returncode,p.stdout,p.stderr)
        except subprocess.TimeoutExpired: res[b]=('timeout','','')
        r1=resource.getrusage(resource.RUSAGE_CHILDREN)
        tot[b]+=r1.ru_utime+r1.ru_stime-r0.ru_utime-r0.ru_stime; wall[b]+=time.time()-t
    if res[old]!=res[new]:
        bad+=1; print('DIFFERS',m,res[old][0],res[new][0],flush=True)
        import difflib
        for k in (1,2):
            d=list(difflib.unified_diff(res[old][k].splitlines(),res[new][k].splitlines(),lineterm='',n=0))[2:10]
            for l in d: print('   ',l[:400],flush=True)
    print(m,'%.2f'%(tot[old]),'%.2f'%tot[new],flush=True)
print('DONE',len(mods),'differ',bad,'cpu',tot,'wall',wall)
