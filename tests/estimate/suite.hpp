// Shared by the files of the estimate's suite: handmade launches on a handmade device, whose times are known.
#pragma once
#include "estimate/device.hpp"
#include "estimate/estimate.hpp"
#include "watch.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <sstream>
#include <string>

using Catch::Approx;
using estimate::Demand;
using estimate::Device;

/// A device with round numbers: ten multiprocessors at 1 GHz. In each cycle, a multiprocessor executes one
/// instruction of a warp and one pass over shared memory.
inline Device device(const std::string& more = "") {
    std::istringstream text(R"(# Round 10, sm_00
quantity,x,y,value,unit
multiprocessors,0,0,10,1
threads_a_multiprocessor,0,0,2048,1
blocks_a_multiprocessor,0,0,32,1
shared_a_multiprocessor,0,0,200000,B
clock,0,0,1e9,Hz
rate_float_fma,0,0,1,warps/cycle
rate_int_divide,0,0,0.1,warps/cycle
latency_int_divide,0,0,50,cycles
latency_float_fma,0,0,5,cycles
latency_shared_load,0,0,20,cycles
latency_l1_load,0,0,30,cycles
latency_l2_load,0,0,200,cycles
latency_dram_load,0,0,600,cycles
latency_global_atomic,0,0,400,cycles
shared_load,1,32,1,cycles/request
shared_load,32,32,32,cycles/request
barrier,32,0,10,cycles
barrier,1024,0,100,cycles
l2_read,1,128,8e9,B/s
l2_read,1,512,32e9,B/s
l2_read,10,512,320e9,B/s
dram_read,1,512,20e9,B/s
dram_read,10,512,100e9,B/s
dram_write,10,0,50e9,B/s
global_atomic,1,0,1e9,1/s
global_atomic,8,0,8e9,1/s
global_atomic,88,0,16e9,1/s
global_atomic,1000,0,200e9,1/s
global_atomic_own_line,1,0,10e9,1/s
global_atomic_own_line,32,0,80e9,1/s
launch,0,0,1e-6,s
blocks,32,0,16e9,blocks/s
blocks,1024,0,2e9,blocks/s
)" + more);
    return estimate::read_device(text);
}

/// One block for each multiprocessor that does next to nothing.
inline Demand idle(double blocks = 10) {
    Demand d;
    d.blocks = blocks;
    d.looked_at = 1;
    d.threads = 128;
    return d;
}

/// Time between the ends of two successive blocks in one place if they do nothing: 10 multiprocessors with 2
/// places each, at 2 blocks a nanosecond. With 32 threads it would be 20 ns.
inline constexpr double turnaround = 10e-9;

inline double seconds_of(const Demand& d, double operations = 0) {
    return estimate::estimate(d, device(), operations).seconds - 1e-6;  // excluding the launch
}
inline std::string bound_of(const Demand& d) { return estimate::estimate(d, device()).needs.front().what; }

/// A request by the first lanes of a warp: lane l accesses begin + l * stride.
inline kata::Request request(const char* did, const char* memory, std::uintptr_t begin, std::uintptr_t stride,
                             unsigned lanes = 32) {
    kata::Request r;
    r.did = did;
    r.memory = memory;
    r.bytes = 4;
    r.steps = r.ends = 1;
    for (unsigned l = 0; l < lanes; ++l) {
        r.lanes |= 1u << l;
        r.addresses[l] = begin + l * stride;
    }
    return r;
}

inline kata::Scene scene(unsigned blocks) {
    kata::Scene s;
    s.grid = {blocks, 1, 1};
    s.block = {32, 1, 1};
    s.array_at = [](std::uintptr_t address) {
        return address < 4096 ? kata::Array{"tile", 0, 4096} : kata::Array{"in", 4096, 1 << 20};
    };
    return s;
}
