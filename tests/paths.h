#pragma once

// Where tests find files. Only a generated source holds the folders: all others compile alike in every checkout.
namespace paddle::test {

extern const char* const kSourceFolder;     // the checkout
extern const char* const kBuildFolder;      // of this build
extern const char* const kGeneratedFolder;  // what the records generated

}  // namespace paddle::test
