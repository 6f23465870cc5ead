#include "forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "hot.hpp"
#include "parallel.hpp"

namespace trueup {

namespace {

constexpr std::size_t kBlockRows = 512;
constexpr std::size_t kMaxMaskLeaves = 8;
constexpr std::uint8_t kMissingCode = 255;
constexpr std::size_t kMaxThresholds = 254;    // ranks 0..254, and 255 for missing
constexpr std::size_t kMaxCategories = 65535;  // codes fit in 16 bits
constexpr std::size_t kMaxTableBytes = std::size_t{1} << 26;
constexpr double kZeroThreshold = 1e-35f;  // LightGBM's idea of zero

// LightGBM's decision_type: bit 0 categorical, bit 1 default left, bits 2 and 3 the kind of missing.
enum class Missing : std::uint8_t { none = 0, zero = 1, nan = 2 };
bool is_categorical(std::uint8_t decision) { return (decision & 1) != 0; }
bool is_default_left(std::uint8_t decision) { return (decision & 2) != 0; }
Missing missing_kind(std::uint8_t decision) { return static_cast<Missing>((decision >> 2) & 3); }

[[noreturn]] void reject(const std::string& what) { throw std::invalid_argument(what); }

void check_offsets(const std::int32_t* offsets, std::size_t n_parts, std::size_t end, const char* name) {
    if (offsets[0] != 0) reject(std::string(name) + " must start at 0");
    for (std::size_t i = 0; i < n_parts; ++i)
        if (offsets[i + 1] < offsets[i]) reject(std::string(name) + " must not decrease");
    if (static_cast<std::size_t>(offsets[n_parts]) != end)
        reject(std::string(name) + " must end at the number of its parts");
}

// How many of the m sorted thresholds are below x.
inline std::size_t rank_of(const double* thresholds, std::size_t m, double x) {
    const double* base = thresholds;
    while (m > 1) {
        const std::size_t half = m / 2;
        base += (base[half - 1] < x) ? half : 0;
        m -= half;
    }
    return static_cast<std::size_t>(base - thresholds) + ((m == 1 && *base < x) ? 1 : 0);
}

inline std::uint8_t number_code(const double* thresholds, std::size_t m, double x) {
    return std::isnan(x) ? kMissingCode : static_cast<std::uint8_t>(rank_of(thresholds, m, x));
}

// LightGBM truncates towards zero; what is missing, negative or beyond the last known category is "no category".
inline std::uint16_t category_code(std::uint32_t n_categories, double x) {
    return (x > -1.0 && x < n_categories) ? static_cast<std::uint16_t>(x) : static_cast<std::uint16_t>(n_categories);
}

inline unsigned lowest_leaf(std::uint8_t mask) {
#if defined(__GNUC__)
    return static_cast<unsigned>(__builtin_ctz(mask));
#else
    unsigned leaf = 0;
    while (!(mask >> leaf & 1)) ++leaf;
    return leaf;
#endif
}

TRUEUP_HOT void strike_numbers(std::uint8_t* masks, const std::uint8_t* codes, std::uint8_t shift, std::uint8_t bound,
                               std::uint8_t keep, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t code = static_cast<std::uint8_t>(codes[i] + shift);
        masks[i] &= static_cast<std::uint8_t>(code <= bound ? 0xFF : keep);
    }
}

// The last step of a tree: strike out leaves by N categorical features, and add the value of the leaf that remains.
// `masks` is null if no number has struck out any.
template <std::size_t N, bool kHasMasks>
void finish_tree(double* sums, const std::uint8_t* masks, const std::uint16_t* const* codes,
                 const std::uint8_t* const* tables, const double* leaves, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        std::uint8_t mask = kHasMasks ? masks[i] : 0xFF;
        for (std::size_t k = 0; k < N; ++k) mask &= tables[k][codes[k][i]];
        sums[i] += leaves[lowest_leaf(mask)];
    }
}

using FinishTree = void (*)(double*, const std::uint8_t*, const std::uint16_t* const*, const std::uint8_t* const*,
                            const double*, std::size_t);
template <bool kHasMasks>
constexpr FinishTree kFinishTree[] = {finish_tree<0, kHasMasks>, finish_tree<1, kHasMasks>, finish_tree<2, kHasMasks>,
                                      finish_tree<3, kHasMasks>, finish_tree<4, kHasMasks>, finish_tree<5, kHasMasks>,
                                      finish_tree<6, kHasMasks>, finish_tree<7, kHasMasks>};

}  // namespace

// What one thread needs for a block of rows.
struct Forest::Workspace {
    explicit Workspace(std::size_t n_columns)
        : number_codes((n_columns + 1) * kBlockRows),
          category_codes(n_columns * kBlockRows),
          masks(kBlockRows),
          logits(kBlockRows),
          sums(kBlockRows) {}
    std::vector<std::uint8_t> number_codes;  // the last column is the logit's
    std::vector<std::uint16_t> category_codes;
    std::vector<std::uint8_t> masks;
    std::vector<double> logits, sums;
};

Forest::Forest(const TreeArrays& arrays, const std::uint8_t* categorical, std::size_t n_features)
    : n_features_(n_features), column_of_(n_features, -1) {
    check(arrays, categorical);
    learn_columns(arrays, categorical);
    category_words_.assign(arrays.category_words, arrays.category_words + arrays.n_category_words);
    trees_.reserve(arrays.n_trees);
    for (std::size_t r = 0; r < arrays.n_rounds; ++r) {
        Round round{};
        round.begin = static_cast<std::uint32_t>(arrays.round_offsets[r]);
        round.end = static_cast<std::uint32_t>(arrays.round_offsets[r + 1]);
        round.theta = arrays.thetas[r];
        std::vector<double> logit_thresholds;
        for (std::int32_t k = arrays.node_offsets[round.begin]; k < arrays.node_offsets[round.end]; ++k)
            if (static_cast<std::size_t>(arrays.split_feature[k]) == n_features)
                logit_thresholds.push_back(arrays.threshold[k]);
        std::sort(logit_thresholds.begin(), logit_thresholds.end());
        logit_thresholds.erase(std::unique(logit_thresholds.begin(), logit_thresholds.end()), logit_thresholds.end());
        round.logit_begin = static_cast<std::uint32_t>(thresholds_.size());
        if (logit_thresholds.size() <= kMaxThresholds)
            thresholds_.insert(thresholds_.end(), logit_thresholds.begin(), logit_thresholds.end());
        round.logit_end = static_cast<std::uint32_t>(thresholds_.size());
        round.number_begin = static_cast<std::uint32_t>(number_splits_.size());
        round.category_begin = static_cast<std::uint32_t>(category_splits_.size());
        for (std::uint32_t t = round.begin; t < round.end; ++t) compile_tree(arrays, t, round);
        round.number_end = static_cast<std::uint32_t>(number_splits_.size());
        round.category_end = static_cast<std::uint32_t>(category_splits_.size());
        rounds_.push_back(round);
    }
    turn_tables();
}

std::size_t Forest::n_fast_trees() const {
    return static_cast<std::size_t>(
        std::count_if(trees_.begin(), trees_.end(), [](const Tree& t) { return t.masked; }));
}

void Forest::check(const TreeArrays& a, const std::uint8_t* categorical) const {
    check_offsets(a.round_offsets, a.n_rounds, a.n_trees, "round_offsets");
    check_offsets(a.node_offsets, a.n_trees, a.n_nodes, "node_offsets");
    check_offsets(a.category_offsets, a.n_category_sets, a.n_category_words, "category_offsets");
    if (a.n_leaves != a.n_nodes + a.n_trees) reject("a tree must have one leaf more than splits");
    for (std::size_t r = 0; r < a.n_rounds; ++r)
        if (!std::isfinite(a.thetas[r])) reject("theta must be finite");
    for (std::size_t i = 0; i < a.n_leaves; ++i)
        if (!std::isfinite(a.leaf_values[i])) reject("leaf values must be finite");
    for (std::size_t k = 0; k < a.n_nodes; ++k) {
        if (a.split_feature[k] < 0 || static_cast<std::size_t>(a.split_feature[k]) > n_features_)
            reject("a split names a feature that is not there");
        const std::size_t feature = static_cast<std::size_t>(a.split_feature[k]);
        const bool of_categories = feature < n_features_ && categorical[feature];
        if (is_categorical(a.decision_type[k]) != of_categories) reject("a split is of another kind than its feature");
        if (a.decision_type[k] >> 2 > static_cast<int>(Missing::nan)) reject("a split has an unknown kind of missing");
        if (std::isnan(a.threshold[k])) reject("a threshold must be a number");
        if (of_categories && !(a.threshold[k] >= 0 && a.threshold[k] < static_cast<double>(a.n_category_sets)))
            reject("a split names a set of categories that is not there");
    }
    // Each tree must reach every split but the root, and every leaf, exactly once: then every walk ends.
    std::vector<std::uint8_t> seen;
    for (std::size_t t = 0; t < a.n_trees; ++t) {
        const std::int32_t begin = a.node_offsets[t], n = a.node_offsets[t + 1] - begin;
        seen.assign(2 * static_cast<std::size_t>(n) + 1, 0);  // splits, then leaves
        for (std::int32_t k = begin; k < begin + n; ++k)
            for (const std::int32_t child : {a.left_child[k], a.right_child[k]}) {
                if (child == 0 || child >= n || child < -(n + 1)) reject("a child is not there");
                auto& mark = seen[static_cast<std::size_t>(child > 0 ? child : n + ~child)];
                if (mark++) reject("two splits share a child");
            }
        // n splits have 2n children and no two share one, so all n - 1 splits and n + 1 leaves are reached; what could
        // remain is a ring of splits apart from the root. Children after their parents, as LightGBM numbers them, rule
        // that out.
        for (std::int32_t k = 0; k < n; ++k)
            for (const std::int32_t child : {a.left_child[begin + k], a.right_child[begin + k]})
                if (child > 0 && child <= k) reject("a child comes before its parent");
    }
}

void Forest::learn_columns(const TreeArrays& a, const std::uint8_t* categorical) {
    std::vector<std::vector<double>> thresholds(n_features_);
    std::vector<std::size_t> n_categories(n_features_, 0);
    std::vector<std::uint8_t> used(n_features_, 0);
    for (std::size_t k = 0; k < a.n_nodes; ++k) {
        const std::size_t f = static_cast<std::size_t>(a.split_feature[k]);
        if (f == n_features_) continue;
        used[f] = 1;
        if (!categorical[f]) {
            thresholds[f].push_back(a.threshold[k]);
            continue;
        }
        const std::size_t set = static_cast<std::size_t>(a.threshold[k]);
        for (std::int32_t w = a.category_offsets[set + 1]; w > a.category_offsets[set]; --w) {
            std::uint32_t word = a.category_words[w - 1], bits = 0;
            for (; word; word >>= 1) ++bits;
            if (!bits) continue;
            const std::size_t last = static_cast<std::size_t>(w - 1 - a.category_offsets[set]) * 32 + bits;
            n_categories[f] = std::max(n_categories[f], last);
            break;
        }
    }
    for (std::size_t f = 0; f < n_features_; ++f) {
        if (!used[f]) continue;
        auto& t = thresholds[f];
        std::sort(t.begin(), t.end());
        t.erase(std::unique(t.begin(), t.end()), t.end());
        if (t.size() > kMaxThresholds || n_categories[f] > kMaxCategories) continue;  // its trees are walked
        CodeColumn column{};
        column.feature = static_cast<std::int32_t>(f);
        column.categorical = categorical[f] != 0;
        column.n_categories = static_cast<std::uint32_t>(n_categories[f]);
        column.begin = static_cast<std::uint32_t>(thresholds_.size());
        thresholds_.insert(thresholds_.end(), t.begin(), t.end());
        column.end = static_cast<std::uint32_t>(thresholds_.size());
        column_of_[f] = static_cast<std::int32_t>(code_columns_.size());
        code_columns_.push_back(column);
    }
}

void Forest::compile_tree(const TreeArrays& a, std::size_t tree, Round& round) {
    if (compile_masked(a, tree, round)) return;
    any_walked_ = true;
    const std::int32_t begin = a.node_offsets[tree], end = a.node_offsets[tree + 1];
    Tree compiled{};
    compiled.begin = static_cast<std::uint32_t>(splits_.size());
    compiled.leaves = static_cast<std::uint32_t>(leaves_.size());
    for (std::int32_t k = begin; k < end; ++k) {
        Split split{a.threshold[k], a.split_feature[k], a.left_child[k], a.right_child[k], 0, 0, a.decision_type[k]};
        if (is_categorical(split.decision_type)) {
            const std::size_t set = static_cast<std::size_t>(a.threshold[k]);
            split.set_begin = a.category_offsets[set];
            split.set_end = a.category_offsets[set + 1];
        }
        splits_.push_back(split);
    }
    compiled.end = static_cast<std::uint32_t>(splits_.size());
    const double* leaf = a.leaf_values + begin + tree;
    leaves_.insert(leaves_.end(), leaf, leaf + (end - begin) + 1);
    trees_.push_back(compiled);
}

bool Forest::compile_masked(const TreeArrays& a, std::size_t tree, const Round& round) {
    const std::int32_t begin = a.node_offsets[tree], n = a.node_offsets[tree + 1] - begin;
    if (static_cast<std::size_t>(n) + 1 > kMaxMaskLeaves) return false;
    std::size_t table_bytes = 0;
    for (std::int32_t k = begin; k < begin + n; ++k) {
        const std::size_t f = static_cast<std::size_t>(a.split_feature[k]);
        if (f < n_features_ && column_of_[f] < 0) return false;
        if (is_categorical(a.decision_type[k])) {
            table_bytes += code_columns_[static_cast<std::size_t>(column_of_[f])].n_categories + 1;
        } else {
            if (missing_kind(a.decision_type[k]) == Missing::zero) return false;
            if (f == n_features_ && round.logit_begin == round.logit_end) return false;
        }
    }
    if (mask_tables_.size() + table_bytes > kMaxTableBytes) return false;

    // Leaves from left to right; children come after their parents, so a walk from the last split up sees the leaves
    // below each split first.
    std::uint8_t below[kMaxMaskLeaves] = {};     // the leaves under each split
    std::uint8_t position[kMaxMaskLeaves] = {};  // where each of LightGBM's leaves stands from left to right
    std::int32_t stack[2 * kMaxMaskLeaves] = {n > 0 ? 0 : -1};
    for (int depth = 1, next = 0; depth > 0;) {
        const std::int32_t child = stack[--depth];
        if (child < 0) {
            position[~child] = static_cast<std::uint8_t>(next++);
        } else {
            stack[depth++] = a.right_child[begin + child];
            stack[depth++] = a.left_child[begin + child];
        }
    }
    const auto leaves_of = [&](std::int32_t child) {
        return child < 0 ? static_cast<std::uint8_t>(1u << position[~child]) : below[child];
    };
    const std::uint32_t in_round = static_cast<std::uint32_t>(tree) - round.begin;
    Tree compiled{};
    compiled.masked = true;
    compiled.begin = static_cast<std::uint32_t>(number_splits_.size());
    compiled.category_begin = compiled.category_end = static_cast<std::uint32_t>(category_splits_.size());
    for (std::int32_t k = n - 1; k >= 0; --k) {
        const std::int32_t node = begin + k;
        const std::uint8_t left = leaves_of(a.left_child[node]);
        below[k] = static_cast<std::uint8_t>(left | leaves_of(a.right_child[node]));
        const std::uint8_t keep = static_cast<std::uint8_t>(~left);
        const std::size_t f = static_cast<std::size_t>(a.split_feature[node]);
        if (is_categorical(a.decision_type[node])) {
            const std::uint32_t column = static_cast<std::uint32_t>(column_of_[f]);
            std::uint8_t* table = category_table(compiled, in_round, column);
            const std::size_t set = static_cast<std::size_t>(a.threshold[node]);
            const std::uint32_t* words = a.category_words + a.category_offsets[set];
            const std::uint32_t n_words =
                static_cast<std::uint32_t>(a.category_offsets[set + 1] - a.category_offsets[set]);
            for (std::uint32_t c = 0; c <= code_columns_[column].n_categories; ++c)
                if (!(c / 32 < n_words && (words[c / 32] >> (c % 32) & 1))) table[c] &= keep;
            continue;
        }
        const bool is_logit = f == n_features_;
        NumberSplit split{};
        split.tree = in_round;
        split.keep = keep;
        split.column =
            static_cast<std::uint32_t>(is_logit ? code_columns_.size() : static_cast<std::size_t>(column_of_[f]));
        const auto first = thresholds_.begin() + (is_logit ? round.logit_begin : code_columns_[split.column].begin);
        const auto last = thresholds_.begin() + (is_logit ? round.logit_end : code_columns_[split.column].end);
        const double threshold = a.threshold[node];
        const bool missing_left = missing_kind(a.decision_type[node]) == Missing::nan
                                      ? is_default_left(a.decision_type[node])
                                      : 0.0 <= threshold;  // LightGBM reads a missing value as 0 here
        split.shift = missing_left ? 1 : 0;                // 255 + 1 wraps around to 0: missing goes left
        split.bound = static_cast<std::uint8_t>(std::lower_bound(first, last, threshold) - first + split.shift);
        number_splits_.push_back(split);
    }
    compiled.end = static_cast<std::uint32_t>(number_splits_.size());
    compiled.leaves = static_cast<std::uint32_t>(mask_leaves_.size());
    mask_leaves_.resize(mask_leaves_.size() + kMaxMaskLeaves, 0.0);
    const double* leaf = a.leaf_values + begin + tree;
    for (std::int32_t i = 0; i <= n; ++i) mask_leaves_[compiled.leaves + position[i]] = leaf[i];
    trees_.push_back(compiled);
    return true;
}

// The table of a tree for a categorical feature, which all its splits by that feature share.
std::uint8_t* Forest::category_table(Tree& tree, std::uint32_t in_round, std::uint32_t column) {
    for (std::uint32_t k = tree.category_begin; k < tree.category_end; ++k)
        if (category_splits_[k].column == column) return mask_tables_.data() + category_splits_[k].table;
    category_splits_.push_back(
        {in_round, column, static_cast<std::uint32_t>(mask_tables_.size()), code_columns_[column].n_splits++});
    tree.category_end = static_cast<std::uint32_t>(category_splits_.size());
    mask_tables_.resize(mask_tables_.size() + code_columns_[column].n_categories + 1, 0xFF);
    return mask_tables_.data() + category_splits_.back().table;
}

// A block of rows goes through one split after the other, so batch scoring wants a split's masks together; a single row
// goes through all splits with one category, and wants that category's masks together.
void Forest::turn_tables() {
    std::size_t size = 0;
    for (CodeColumn& column : code_columns_) {
        column.masks_begin = size;
        size += std::size_t{column.n_splits} * (column.n_categories + 1);
    }
    masks_by_category_.resize(size);
    for (const CategorySplit& split : category_splits_) {
        const CodeColumn& column = code_columns_[split.column];
        std::uint8_t* masks = masks_by_category_.data() + column.masks_begin + split.place;
        for (std::size_t c = 0; c <= column.n_categories; ++c)
            masks[c * column.n_splits] = mask_tables_[split.table + c];
    }
}

double Forest::walk(const Tree& tree, const double* const* columns, std::size_t row, double logit) const {
    const Split* splits = splits_.data() + tree.begin;
    std::int32_t node = tree.begin == tree.end ? -1 : 0;
    while (node >= 0) {
        const Split& split = splits[node];
        const std::size_t f = static_cast<std::size_t>(split.feature);
        double x = f == n_features_ ? logit : columns[f][row];
        bool left = false;
        if (is_categorical(split.decision_type)) {
            const double n_bits = 32.0 * (split.set_end - split.set_begin);
            if (x > -1.0 && x < n_bits && n_bits > 0.0) {
                const std::uint32_t code = static_cast<std::uint32_t>(static_cast<std::int64_t>(x));
                left = category_words_[static_cast<std::size_t>(split.set_begin) + code / 32] >> (code % 32) & 1;
            }
        } else {
            const Missing missing = missing_kind(split.decision_type);
            const bool is_nan = std::isnan(x);
            if (is_nan && missing != Missing::nan) x = 0.0;
            if ((missing == Missing::nan && is_nan) || (missing == Missing::zero && std::fabs(x) <= kZeroThreshold))
                left = is_default_left(split.decision_type);
            else
                left = x <= split.threshold;
        }
        node = left ? split.left : split.right;
    }
    return leaves_[tree.leaves + static_cast<std::size_t>(~node)];
}

void Forest::encode_block(const double* const* columns, std::size_t begin, std::size_t n, Workspace& space) const {
    for (std::size_t c = 0; c < code_columns_.size(); ++c) {
        const CodeColumn& column = code_columns_[c];
        const double* values = columns[column.feature] + begin;
        if (column.categorical) {
            std::uint16_t* codes = space.category_codes.data() + c * kBlockRows;
            for (std::size_t i = 0; i < n; ++i) codes[i] = category_code(column.n_categories, values[i]);
        } else {
            std::uint8_t* codes = space.number_codes.data() + c * kBlockRows;
            const double* thresholds = thresholds_.data() + column.begin;
            const std::size_t m = column.end - column.begin;
            for (std::size_t i = 0; i < n; ++i) codes[i] = number_code(thresholds, m, values[i]);
        }
    }
}

// Leaves in space.sums the sum of the round's trees for each row of the block.
void Forest::round_block(const Round& round, const double* const* columns, std::size_t begin, std::size_t n,
                         Workspace& space) const {
    double* sums = space.sums.data();
    std::fill(sums, sums + n, 0.0);
    std::uint8_t* masks = space.masks.data();
    std::uint8_t* logit_codes = space.number_codes.data() + code_columns_.size() * kBlockRows;
    const std::size_t m = round.logit_end - round.logit_begin;
    for (std::size_t i = 0; m && i < n; ++i)
        logit_codes[i] = number_code(thresholds_.data() + round.logit_begin, m, space.logits[i]);
    for (std::uint32_t t = round.begin; t < round.end; ++t) {
        const Tree& tree = trees_[t];
        if (!tree.masked) {
            for (std::size_t i = 0; i < n; ++i) sums[i] += walk(tree, columns, begin + i, space.logits[i]);
            continue;
        }
        const bool by_numbers = tree.begin < tree.end;
        if (by_numbers) std::fill(masks, masks + n, std::uint8_t{0xFF});
        for (std::uint32_t k = tree.begin; k < tree.end; ++k) {
            const NumberSplit& split = number_splits_[k];
            strike_numbers(masks, space.number_codes.data() + split.column * kBlockRows, split.shift, split.bound,
                           split.keep, n);
        }
        const std::uint16_t* codes[kMaxMaskLeaves];
        const std::uint8_t* tables[kMaxMaskLeaves];
        std::size_t n_tables = 0;
        for (std::uint32_t k = tree.category_begin; k < tree.category_end; ++k, ++n_tables) {
            codes[n_tables] = space.category_codes.data() + category_splits_[k].column * kBlockRows;
            tables[n_tables] = mask_tables_.data() + category_splits_[k].table;
        }
        const auto finish = by_numbers ? kFinishTree<true>[n_tables] : kFinishTree<false>[n_tables];
        finish(sums, masks, codes, tables, mask_leaves_.data() + tree.leaves, n);
    }
}

void Forest::advance(const double* const* columns, const double* logits, double* out, std::size_t n, std::size_t first,
                     std::size_t last, int n_threads) const {
    for_each_block((n + kBlockRows - 1) / kBlockRows, n_threads, [&] {
        return [&, space = Workspace(code_columns_.size())](std::size_t block) mutable {
            const std::size_t begin = block * kBlockRows, rows = std::min(kBlockRows, n - begin);
            std::copy(logits + begin, logits + begin + rows, space.logits.data());
            encode_block(columns, begin, rows, space);
            for (std::size_t r = first; r < last; ++r) {
                round_block(rounds_[r], columns, begin, rows, space);
                const double theta = rounds_[r].theta;
                for (std::size_t i = 0; i < rows; ++i) space.logits[i] = theta * (space.logits[i] + space.sums[i]);
            }
            std::copy(space.logits.data(), space.logits.data() + rows, out + begin);
        };
    });
}

void Forest::corrections(const double* const* columns, const double* logits, double* out, std::size_t n,
                         std::size_t round, int n_threads) const {
    for_each_block((n + kBlockRows - 1) / kBlockRows, n_threads, [&] {
        return [&, space = Workspace(code_columns_.size())](std::size_t block) mutable {
            const std::size_t begin = block * kBlockRows, rows = std::min(kBlockRows, n - begin);
            std::copy(logits + begin, logits + begin + rows, space.logits.data());
            encode_block(columns, begin, rows, space);
            round_block(rounds_[round], columns, begin, rows, space);
            std::copy(space.sums.data(), space.sums.data() + rows, out + begin);
        };
    });
}

double Forest::advance_one(const double* row, double logit) const {
    thread_local std::vector<std::uint8_t> number_codes;
    thread_local std::vector<const std::uint8_t*> category_masks;
    thread_local std::vector<std::uint8_t> tree_masks;
    thread_local std::vector<const double*> columns;
    number_codes.resize(code_columns_.size() + 1);
    category_masks.resize(code_columns_.size());
    for (std::size_t c = 0; c < code_columns_.size(); ++c) {
        const CodeColumn& column = code_columns_[c];
        if (column.categorical)
            category_masks[c] = masks_by_category_.data() + column.masks_begin +
                                std::size_t{category_code(column.n_categories, row[column.feature])} * column.n_splits;
        else
            number_codes[c] =
                number_code(thresholds_.data() + column.begin, column.end - column.begin, row[column.feature]);
    }
    if (any_walked_) {
        columns.resize(n_features_);
        for (std::size_t f = 0; f < n_features_; ++f) columns[f] = row + f;
    }
    const std::uint8_t* numbers = number_codes.data();
    const std::uint8_t* const* of_category = category_masks.data();
    // Masks are bytes, and a byte may alias anything: without these the compiler reads every pointer again after each
    // store.
    const NumberSplit* number_splits = number_splits_.data();
    const CategorySplit* category_splits = category_splits_.data();
    const Tree* trees = trees_.data();
    const double* leaves = mask_leaves_.data();
    for (const Round& round : rounds_) {
        const std::size_t m = round.logit_end - round.logit_begin;
        if (m) number_codes.back() = number_code(thresholds_.data() + round.logit_begin, m, logit);
        // Split by split over the whole round, not tree by tree: trees differ in their number of splits, and a loop
        // whose end can't be foreseen costs more than the splits themselves.
        tree_masks.assign(round.end - round.begin, 0xFF);
        std::uint8_t* masks = tree_masks.data();
        for (std::uint32_t k = round.number_begin; k < round.number_end; ++k) {
            const NumberSplit split = number_splits[k];
            const auto code = static_cast<std::uint8_t>(numbers[split.column] + split.shift);
            masks[split.tree] &= code <= split.bound ? 0xFF : split.keep;
        }
        for (std::uint32_t k = round.category_begin; k < round.category_end; ++k) {
            const CategorySplit split = category_splits[k];
            masks[split.tree] &= of_category[split.column][split.place];
        }
        double sum = 0.0;
        for (std::uint32_t t = round.begin; t < round.end; ++t) {
            const Tree& tree = trees[t];
            sum += tree.masked ? leaves[tree.leaves + lowest_leaf(masks[t - round.begin])]
                               : walk(tree, columns.data(), 0, logit);
        }
        logit = round.theta * (logit + sum);
    }
    return logit;
}

}  // namespace trueup
