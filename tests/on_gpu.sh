#!/usr/bin/env bash
# Checks to be run by hand on a machine with a GPU, because no CI runner has one:
#
#   tests/on_gpu.sh RESULTS [PART...]     from the root of the repository
#
# PART is one or more of these; without one, all of them but bench and times, in this order:
#   build      configures and builds
#   test       every suite
#   huge       every solution on inputs of 2^30 bytes and, where indices reach that far, of more than 2^32
#   sanitize   compute-sanitizer over every solution, with each of its tools
#   ladder     times: each step compared with the one that it should improve on
#   variants   times: kernels of tests/wrong compared with the kernels that they name
#   claims     the timed claims, 30 verdicts on each, all of which must hold; and the refuted claims of documents
#   describe   what one thing at a time costs on this GPU, for the estimate: RESULTS/devices/NAME.csv
#   times      the times of all kernels of the ladders and variants, with which the estimate is compared:
#              RESULTS/times.csv; only if named, because the lessons have the times of their own GPU
#   bench      times: the last step of each problem beside the vendor's library and the ceiling, over all sizes:
#              RESULTS/CHAPTER/measured/bench.NAME.csv, from which tests/targets.py makes tables; 5 to 40 seconds a
#              chapter, and only if named, because each GPU has a file
#   nsight     the CPU back end's counts beside Nsight Compute's, for the same launches: of the solutions compiled so
#              that every access is an instruction (as written), in which sectors must agree within 1 % and passes within
#              5 %, of the solutions as built, and by the counters in the L1 cache
#
# Tables go to RESULTS/CHAPTER/measured/*.csv: with RESULTS = chapters, to the tables of the lessons. The output of the
# tools is in $BUILD/on_gpu. If the CPU back end cannot be built, put the output of `CHAPTER-cpu --measure MODULE`
# into $BUILD/on_gpu/CHAPTER.STEP.counts. CHAPTERS='scan gemm' leaves out the other chapters, except from build. STEPS='06 07'
# leaves out the other steps from the parts that run one step at a time. Tables then have only these rows, so RESULTS must
# be another folder. Under the sanitizers a launch may take 400 s. Otherwise it may take 5 s, or what its test allows
# (KATA_KERNEL_SECONDS). Set that variable for other tools that slow kernels down:
# `KATA_KERNEL_SECONDS=60 TOOL build/CHAPTER-gpu ...`.
set -euo pipefail

BUILD=${BUILD:-build}
verdicts=30
at_once=3  # processes, if nothing is timed; a huge problem takes a fifth of 80 GB on the GPU, and of 128 GB on the host
tools=(memcheck racecheck initcheck synccheck)
# Kinds of a chapter's timed problem: the parameter that distinguishes them, and its values, first that of the claims.
declare -A problems=([attention]='n 4096' [convolution]='radius 2 4 7' [histogram]='longest_run 0 100000' [reduction]='power_of_two 28' [scan]='power_of_two 28' [sort]='power_of_two 28' [transposition]='rows 16384 16383')
# The name of a quantity in the meter's --measure and in Nsight Compute, and the largest difference allowed, in %.
quantities=(
    'global_load_sectors t_sectors_pipe_lsu_mem_global_op_ld 1'
    'global_store_sectors t_sectors_pipe_lsu_mem_global_op_st 1'
    'shared_load_passes data_pipe_lsu_wavefronts_mem_shared_op_ld 5'
    'shared_store_passes data_pipe_lsu_wavefronts_mem_shared_op_st 5'
)
# Nsight Compute has it twice: from the instructions themselves, and from a counter in the L1 cache.
of_instructions=smsp__sass_l1tex_
of_counter=l1tex__

usage() {
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
    exit 2
}

[[ $# -ge 1 && $1 != -* ]] || usage
results=$1
shift
all_parts=(build test huge sanitize ladder variants claims describe nsight bench times)
parts=("$@")
[[ $# -gt 0 ]] || parts=("${all_parts[@]::${#all_parts[@]}-2}")
for part in "${parts[@]}"; do  # before the first of them takes hours
    [[ " ${all_parts[*]} " == *" $part "* ]] || { echo "$0: there is no part '$part'; there are: ${all_parts[*]}" >&2 && exit 2; }
done
logs=$BUILD/on_gpu
failed=0

machine() {
    local gpu cuda
    gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader -i 0)
    cuda=$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    echo "# ${gpu%%,*}, CUDA $cuda, driver ${gpu##*, }, $(date +%F)"
}

gpu_name() {  # in the form of a file name: H100_80GB_HBM3
    local name
    name=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0)
    name=${name#NVIDIA }
    echo "${name// /_}"
}

front() { python3 common/front/repository.py "$@"; }  # the chapters and steps, and their names in the build
chapters() {
    # shellcheck disable=SC2086  # names of chapters hold no spaces
    if [[ -n ${CHAPTERS-} ]]; then printf '%s\n' $CHAPTERS; else front chapters; fi
}
steps() {  # steps CHAPTER [cpu-steps]: prints the selected steps, or those of them that the CPU back end runs
    local step
    for step in $(front "${2:-steps}" "$1"); do
        [[ -n ${STEPS-} && " $STEPS " != *" ${step%%_*} "* ]] || echo "$step"
    done
}
solution() { echo "$BUILD/$(front module solutions "$1" "$2" "${3:-gpu}")"; }  # solution CHAPTER STEP [BACKEND]: prints its module

# table CHAPTER NAME HEADINGS: begins a table and prints its path.
table() {
    local file=$results/$1/measured/$2.csv
    mkdir -p "$(dirname "$file")"
    { machine; echo "$3"; } >"$file"
    echo "$file"
}

# values LOG KEY:DECIMALS...: prints the output of a step's --measure as fields of a table.
values() {
    local log=$1
    shift
    awk -v wanted="$*" '
        { said[$1] = $2 }
        END {
            count = split(wanted, keys, " ")
            for (i = 1; i <= count; ++i) {
                split(keys[i], key, ":")
                printf "%s%s", (i > 1 ? "," : ""), key[1] in said ? sprintf("%.*f", key[2], said[key[1]]) : ""
            }
        }' "$log"
}

# better CHAPTER STEP: prints the step that it should improve on.
better() {
    "$BUILD/$1-gpu" --describe | python3 -c '
import json, sys
print({step["name"]: step["before"] for step in json.load(sys.stdin)["steps"]}[sys.argv[1]])' "$2"
}

# suite CHAPTER STEP ARGUMENT...: runs the tests of a solution, under the tool in `under`.
suite() {
    local chapter=$1 step=$2
    shift 2
    ${under:-} "$BUILD/$chapter-gpu" --step "$(solution "$chapter" "$step")" \
        --rivals "$BUILD/$(front prefix solutions "$chapter")" --source "solutions/$chapter/$step.cu" "$@"
}

build() {
    [[ -f $BUILD/build.ninja ]] || meson setup "$BUILD" -Dgpu=enabled
    # shellcheck disable=SC2046  # names of targets hold no spaces
    ninja -C "$BUILD" -k 0 $(front targets "$BUILD")  # the styles, too
}

# in_parallel COMMAND CHAPTER...: runs COMMAND CHAPTER STEP for every step, several at once.
in_parallel() {
    local command=$1 chapter step
    shift
    for chapter; do
        for step in $(steps "$chapter"); do
            while (($(jobs -pr | wc -l) >= at_once)); do wait -n || true; done
            "$command" "$chapter" "$step" &
        done
    done
    wait
}

# shellcheck disable=SC2317  # called by in_parallel
huge_step() {
    suite "$1" "$2" "[huge]" --reporter step >"$logs/$1.$2.huge" 2>&1 || true
}

huge() {
    local chapter step log passed wrong
    # shellcheck disable=SC2046  # names of chapters hold no spaces
    in_parallel huge_step $(chapters)
    for chapter in $(chapters); do
        for step in $(steps "$chapter"); do
            log=$logs/$chapter.$step.huge
            passed=$(grep -c '^ok ' "$log") || true
            wrong=$(grep -c '^not ok ' "$log") || true
            echo "$chapter $step: $passed passed, $wrong failed"
            [[ $passed -gt 0 && $wrong == 0 ]] || { failed=1 && cat "$log"; }
        done
    done
}

# Every test of a step's results; the largest problems take a sanitizer minutes and show it nothing new.
# shellcheck disable=SC2317
sanitize_step() {
    local tool small='~[huge]~"*very large*"~"*more bytes than 32 bits*"~"*32 bits cannot number*"~"*as an int can count*"'
    for tool in "${tools[@]}"; do
        under="env KATA_KERNEL_SECONDS=400 compute-sanitizer --tool $tool" suite "$1" "$2" "[equivalence]$small" --reporter step \
            >"$logs/$1.$2.$tool" 2>&1 || true &
    done
    wait
}

sanitize() {
    local chapter step tool file log row passed wrong errors
    # shellcheck disable=SC2046
    at_once=3 in_parallel sanitize_step $(chapters)
    for chapter in $(chapters); do
        file=$(table "$chapter" sanitizers $'# tests passed/tests failed/errors\nstep'"$(printf ',%s' "${tools[@]}")")
        for step in $(steps "$chapter"); do
            row=$step
            for tool in "${tools[@]}"; do
                log=$logs/$chapter.$step.$tool
                passed=$(grep -c '^ok ' "$log") || true
                wrong=$(grep -c '^not ok ' "$log") || true
                # "ERROR SUMMARY: 0 errors", of racecheck "RACECHECK SUMMARY: 0 hazards displayed …"
                errors=$(sed -n 's/.* SUMMARY: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
                row+=,$passed/$wrong/${errors:-?}
                [[ $passed -gt 0 && $wrong == 0 && $errors == 0 ]] || failed=1
            done
            echo "$row" >>"$file"
        done
        cat "$file"
    done
}

ladder() {
    local chapter what kinds kind file worse step log wanted
    for chapter in $(chapters); do
        wanted=$(steps "$chapter" | tr '\n' ' ')
        read -r what kinds <<<"${problems[$chapter]:-variant 0}"
        file=$(table "$chapter" ladder "step,$what,ms,GB/s,TFLOP/s,% of ceiling,against,times as fast,at least,at most")
        for kind in $kinds; do
            for step in $(front steps "$chapter"); do
                [[ " $wanted " == *" $step "* ]] || continue
                log=$logs/$chapter.$step.$kind
                worse=$(better "$chapter" "$step")
                "$BUILD/$chapter-gpu" --measure "$(solution "$chapter" "$step")" --variant "$kind" \
                    ${worse:+--against "$(solution "$chapter" "$worse")"} >"$log" || failed=1
                echo "$step,$kind,$(values "$log" milliseconds:3 gigabytes:0 teraflops:2 of_ceiling:1),$worse,$(
                    values "$log" faster:3 faster_lower:3 faster_upper:3)" >>"$file"
            done
        done
        echo "ceilings in GB/s and TFLOP/s: $(values "$log" ceiling_gigabytes:0 ceiling_teraflops:1)"
        cat "$file"
    done
}

variants() {
    local chapter what kinds kind file timed kernel module against other log
    for chapter in $(chapters); do
        timed=$(front timed "$chapter" gpu)
        [[ -n $timed ]] || continue
        read -r what kinds <<<"${problems[$chapter]:-variant 0}"
        file=$(table "$chapter" variants "kernel,$what,ms,against,times as fast,at least,at most")
        while read -r kernel module against other <&3; do
            for kind in $kinds; do
                log=$logs/$chapter.$kernel.$kind
                "$BUILD/$chapter-gpu" --measure "$BUILD/$module" --variant "$kind" --against "$BUILD/$other" >"$log" || failed=1
                echo "$kernel,$kind,$(values "$log" milliseconds:3),$against,$(
                    values "$log" faster:3 faster_lower:3 faster_upper:3)" >>"$file"
            done
        done 3<<<"$timed"
        cat "$file"
    done
}

claims() {
    local chapter step file log
    for chapter in $(chapters); do
        file=$(table "$chapter" claims "step,against,claimed,standing,verdicts,held,lowest ratio,highest ratio")
        for step in $(steps "$chapter"); do
            for standing in timed refuted; do
                log=$logs/$chapter.$step.$standing
                suite "$chapter" "$step" "[$standing]" --verdicts $verdicts --success --reporter compact >"$log" 2>&1 || failed=1
                # "… passed: '03_tiled is 1.662 times as fast as 02_constant_memory (1.660 to 1.665 in 16 pairs of runs); claimed: 1.40, …'"
                awk -v standing="${standing/timed/asserted}" '
                    match($0, /[0-9][0-9]_[a-z0-9_]* is [0-9.]* .* claimed: [0-9.]*/) {
                        split(substr($0, RSTART, RLENGTH), word, " ")
                        claim = word[1] "," word[8] "," word[18] "," standing
                        ++made[claim]
                        held[claim] += standing == "asserted" ? /passed:/ : !/passed:/
                        ratio = word[3] + 0
                        if (!(claim in low) || ratio < low[claim]) low[claim] = ratio
                        if (ratio > high[claim]) high[claim] = ratio
                    }
                    END { for (c in made) printf "%s,%d,%d,%.3f,%.3f\n", c, made[c], held[c], low[c], high[c] }
                ' "$log" >>"$file"
            done
        done
        if (($(wc -l <"$file") > 2)); then cat "$file"; else rm "$file"; fi # no claim is about time
    done
}

describe() {
    local file
    file=$results/devices/$(gpu_name).csv
    mkdir -p "$results/devices"
    nvcc -std=c++20 -O2 -arch=native common/estimate/describe.cu -o "$BUILD/describe"
    "$BUILD/describe" >"$file"
    cat "$file"
}

bench() {
    local chapter name file
    name=$(gpu_name)
    for chapter in $(chapters); do
        file=$results/$chapter/measured/bench.$name.csv
        mkdir -p "${file%/*}"
        if [[ -f tests/bench/$chapter.py ]]; then  # a rival in Python
            { machine && python3 "tests/bench/$chapter.py" "$BUILD"; } >"$file" || failed=1
        else
            KATA_BUILD=$BUILD python3 common/front/kata.py bench "$chapter" --last 1 --csv "$file" || failed=1
        fi
    done
}

times() {
    local chapter kinds kind kernel file=$results/times.csv
    local -a modules
    { machine; echo "chapter,kernel,variant,measured ms"; } >"$file"
    for chapter in $(chapters); do
        read -r _ kinds <<<"${problems[$chapter]:-variant 0}"
        modules=()
        for kernel in $(steps "$chapter"); do modules+=("$(solution "$chapter" "$kernel")"); done
        while read -r _ kernel _; do modules+=("$BUILD/$kernel"); done < <(front timed "$chapter" gpu)
        for kind in $kinds; do
            "$BUILD/$chapter-gpu" --times --variant "$kind" "${modules[@]}" |
                awk -v chapter="$chapter" -v kind="$kind" '{ printf "%s,%s,%s,%.3f\n", chapter, $1, kind, $2; fflush() }' |
                tee -a "$file" || failed=1
        done
    done
}

# profile CHAPTER MODULE METRICS LOG: profiles the launches of the ladder's problem.
profile() {
    ncu --clock-control none --csv --print-units base --metrics "$3" \
        "$BUILD/$1-gpu" --measure "$2" --once >"$4" || failed=1
}

# profiled LOG METRIC: prints its sum over the launches of a step. "ID","Process ID", … "Metric Name","Metric Unit","Metric Value"
profiled() {
    awk -v metric="$2.sum" '
        /^"[0-9]/ {
            fields = split($0, field, "\",\"")
            gsub(/[",]/, "", field[fields])
            if (field[fields - 2] == metric) sum += field[fields]
        }
        END { printf "%d", sum }' "$1"
}

nsight() {
    local chapter step file log module quantity name most metrics='' as_written=$BUILD-as-written
    for quantity in "${quantities[@]}"; do
        read -r _ name _ <<<"$quantity"
        metrics+=${metrics:+,}$of_instructions$name.sum,$of_counter$name.sum
    done
    # When ptxas optimises, it merges several neighbouring accesses into one.
    [[ -f $as_written/build.ninja ]] || meson setup "$as_written" -Dgpu=enabled -Dcpu=disabled -Dcuda_args=-Xptxas=-O0
    # shellcheck disable=SC2046
    ninja -C "$as_written" $(for chapter in $(chapters); do
        for step in $(steps "$chapter" cpu-steps); do front module solutions "$chapter" "$step" gpu; done
    done)
    for chapter in $(chapters); do
        file=$(table "$chapter" nsight "step,quantity,meter,as written,difference in %,as built,counter in L1")
        for step in $(steps "$chapter" cpu-steps); do  # the meter counts no others
            log=$logs/$chapter.$step
            [[ ! -x $BUILD/$chapter-cpu ]] ||
                "$BUILD/$chapter-cpu" --measure "$(solution "$chapter" "$step" cpu)" >"$log.counts"
            module=$(solution "$chapter" "$step")
            profile "$chapter" "$as_written/${module##*/}" "$metrics" "$log.as-written"
            profile "$chapter" "$module" "$metrics" "$log.as-built"
            for quantity in "${quantities[@]}"; do
                read -r quantity name most <<<"$quantity"
                compare "$step,$quantity" "$(values "$log.counts" "$quantity:0")" \
                    "$(profiled "$log.as-written" "$of_instructions$name")" "$most" >>"$file" || failed=1
                echo ",$(profiled "$log.as-built" "$of_instructions$name"),$(profiled "$log.as-built" "$of_counter$name")" >>"$file"
            done
        done
        cat "$file"
    done
}

# compare ROW METER PROFILER MOST: prints the beginning of a row; fails if they differ by more than MOST %.
compare() {
    awk -v row="$1" -v meter="$2" -v profiler="$3" -v most="$4" 'BEGIN {
        off = profiler > 0 ? 100 * (meter - profiler) / profiler : meter > 0 ? 100 : 0
        printf "%s,%d,%d,%.2f", row, meter, profiler, off
        exit off > most || off < -most
    }'
}

mkdir -p "$logs"
for part in "${parts[@]}"; do
    echo "== $part"
    case $part in
        build) build ;;
        test)
            meson test -C "$BUILD" --no-rebuild --print-errorlogs --suite tools || failed=1
            # shellcheck disable=SC2086  # names of chapters hold no spaces
            tests/on_gpu_tests.py "$BUILD" ${CHAPTERS-} --at-once "$(nproc)" || failed=1
            ;;
        huge) huge ;;
        sanitize) sanitize ;;
        ladder) ladder ;;
        variants) variants ;;
        claims) claims ;;
        describe) describe ;;
        bench) bench ;;
        times) times ;;
        nsight) nsight ;;
    esac
done
exit "$failed"
