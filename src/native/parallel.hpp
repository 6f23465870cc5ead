// Runs independent blocks of work on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace trueup {

constexpr std::size_t kMaxThreads = 1024;

// Calls work(block) once for every block in [0, n_blocks). Blocks are handed out in order, but may finish in any: a
// result that must not depend on the number of threads is written to a place of its own for each block.
template <typename MakeWorker>
void for_each_block(std::size_t n_blocks, int n_threads, MakeWorker make_worker) {
    const std::size_t wanted = static_cast<std::size_t>(std::max(1, n_threads));
    const std::size_t used = std::min({wanted, n_blocks, kMaxThreads});
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    auto run = [&] {
        try {
            auto work = make_worker();
            for (std::size_t block = next++; block < n_blocks; block = next++) work(block);
        } catch (...) {
            const std::lock_guard<std::mutex> held(failure_lock);
            failure = std::current_exception();
            next = n_blocks;
        }
    };
    std::vector<std::thread> helpers;
    helpers.reserve(used);  // so that no allocation can fail while threads run
    for (std::size_t i = 1; i < used; ++i) {
        try {
            helpers.emplace_back(run);
        } catch (const std::system_error&) {
            break;  // no more threads to be had: the ones there are do the work
        }
    }
    run();
    for (auto& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace trueup
