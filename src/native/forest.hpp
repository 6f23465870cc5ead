// The trees of all rounds, compiled for scoring.
//
// A Forest is built once from LightGBM's flat arrays. Building checks everything that scoring will index with, so the
// kernels below need no check of their own; arrays that don't describe trees are a std::invalid_argument.
//
// Two ways through a tree:
//  * Trees of at most 8 leaves (all of them, by default) are bit masks, after QuickScorer (Lucchese et al., SIGIR
//  2015):
//    a row starts with all leaves possible; each split that sends it right strikes out the leaves to its left; the
//    lowest leaf that remains is the row's. Values are replaced by small codes first (the rank among the thresholds of
//    the feature, or the category), so a split is one byte comparison, sixteen or thirty-two rows at a time.
//  * All other trees are walked node by node, with LightGBM's rules for missing values.
// Both add leaf values in the order of the trees, starting from zero: the sums are LightGBM's, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trueup {

// A view of the arrays of a model file; see trueup._model.Trees for what each one means.
struct TreeArrays {
    const std::int32_t* round_offsets;
    const double* thetas;
    std::size_t n_rounds;
    const std::int32_t* node_offsets;
    std::size_t n_trees;
    const std::int32_t* split_feature;
    const double* threshold;
    const std::uint8_t* decision_type;
    const std::int32_t* left_child;
    const std::int32_t* right_child;
    std::size_t n_nodes;
    const double* leaf_values;
    std::size_t n_leaves;
    const std::int32_t* category_offsets;
    std::size_t n_category_sets;
    const std::uint32_t* category_words;
    std::size_t n_category_words;
};

class Forest {
 public:
    // `categorical[f]` tells whether feature f holds category codes; the logit is feature `n_features`.
    Forest(const TreeArrays& arrays, const std::uint8_t* categorical, std::size_t n_features);

    std::size_t n_features() const { return n_features_; }
    std::size_t n_rounds() const { return rounds_.size(); }
    std::size_t n_fast_trees() const;

    // out[i] = theta_last * (... theta_first * (logits[i] + h_first) ... + h_last) for the rounds [first, last).
    // `columns[f]` points to the n values of feature f.
    void advance(const double* const* columns, const double* logits, double* out, std::size_t n, std::size_t first,
                 std::size_t last, int n_threads) const;

    // The sum of a round's trees, before it is added to the logit and rescaled.
    void corrections(const double* const* columns, const double* logits, double* out, std::size_t n, std::size_t round,
                     int n_threads) const;

    // All rounds for one row of n_features values.
    double advance_one(const double* row, double logit) const;

 private:
    struct Split {  // a split of a walked tree, as LightGBM stores it
        double threshold;
        std::int32_t feature;
        std::int32_t left, right;  // >= 0: a node of the same tree; < 0: leaf ~child
        std::int32_t set_begin, set_end;
        std::uint8_t decision_type;
    };
    struct NumberSplit {            // a split of a masked tree by a threshold
        std::uint32_t tree;         // its tree, counted from the first of the round
        std::uint32_t column;       // which code column
        std::uint8_t bound, shift;  // left if uint8(code + shift) <= bound
        std::uint8_t keep;          // the leaves that stay possible on the way right
    };
    struct CategorySplit {     // all splits of a masked tree by one categorical feature, together
        std::uint32_t tree;    // their tree, counted from the first of the round
        std::uint32_t column;  // which code column
        std::uint32_t table;   // where the leaves that stay possible begin in mask_tables_, a category each
        std::uint32_t place;   // its place among all splits of the column
    };
    struct Tree {
        std::uint32_t begin, end;                    // its splits, in number_splits_ or splits_
        std::uint32_t category_begin, category_end;  // in category_splits_
        std::uint32_t leaves;                        // its first leaf value in mask_leaves_ or leaves_
        bool masked;
    };
    struct Round {
        std::uint32_t begin, end;  // its trees
        double theta;
        std::uint32_t logit_begin, logit_end;  // the thresholds of its logit, in thresholds_
        std::uint32_t number_begin, number_end, category_begin, category_end;  // the splits of its masked trees
    };
    struct CodeColumn {  // how a feature becomes codes
        std::int32_t feature;
        std::uint32_t begin, end;    // numbers: thresholds, in thresholds_
        std::uint32_t n_categories;  // categories: codes at or above it mean missing or unseen
        bool categorical;
        std::uint32_t n_splits;   // categories: how many CategorySplits there are,
        std::size_t masks_begin;  // and where their masks begin in masks_by_category_
    };
    struct Workspace;

    void check(const TreeArrays& arrays, const std::uint8_t* categorical) const;
    void learn_columns(const TreeArrays& arrays, const std::uint8_t* categorical);
    void compile_tree(const TreeArrays& arrays, std::size_t tree, Round& round);
    bool compile_masked(const TreeArrays& arrays, std::size_t tree, const Round& round);
    std::uint8_t* category_table(Tree& tree, std::uint32_t in_round, std::uint32_t column);
    void turn_tables();
    void encode_block(const double* const* columns, std::size_t begin, std::size_t n, Workspace& space) const;
    void round_block(const Round& round, const double* const* columns, std::size_t begin, std::size_t n,
                     Workspace& space) const;
    double walk(const Tree& tree, const double* const* columns, std::size_t row, double logit) const;

    std::size_t n_features_;
    std::vector<Round> rounds_;
    std::vector<Tree> trees_;
    std::vector<Split> splits_;
    std::vector<double> leaves_;
    std::vector<std::uint32_t> category_words_;
    std::vector<NumberSplit> number_splits_;
    std::vector<CategorySplit> category_splits_;
    std::vector<double> mask_leaves_;              // 8 a tree
    std::vector<std::uint8_t> mask_tables_;        // n_categories + 1 a category split
    std::vector<std::uint8_t> masks_by_category_;  // the same, for one row: all splits of a category beside each other
    std::vector<CodeColumn> code_columns_;
    std::vector<std::int32_t> column_of_;  // feature -> code column, or -1
    std::vector<double> thresholds_;
    bool any_walked_ = false;
};

}  // namespace trueup
