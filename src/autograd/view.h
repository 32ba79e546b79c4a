// Histories of views. A view knows its base; writing through the view changes the base's history too.
#pragma once
#include "autograd/node.h"

namespace paddle::autograd {

// If the base's history changed since this view was made, the view's history becomes "the viewed part of the base as it
// is now".
void refresh_view(const Tensor& view);

// After an in-place operator gave `view` a new history: the base's history becomes its old one with the viewed part
// replaced.
void rebase(const Tensor& view);

// The elements of `written` became those of `value`, and its history does.
void take_history(const Tensor& written, const Tensor& value);

}  // namespace paddle::autograd
