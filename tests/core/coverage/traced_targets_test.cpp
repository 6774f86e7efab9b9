// Which files belong to the targets.
#include "core/coverage/traced_targets.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

namespace fs = std::filesystem;

class TracedTargetsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ordeal-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = fs::canonical(name);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string write(const fs::path& inner) {
    fs::create_directories((root_ / inner).parent_path());
    std::ofstream(root_ / inner) << "pass\n";
    return (root_ / inner).string();
  }

  std::string module_name(const TracedTargets& targets, const std::string& filename) {
    const auto source = targets.source_of(filename);
    return source ? source->module_name : "";
  }

  fs::path root_;
};

TEST_F(TracedTargetsTest, AModuleIsItsFileOnly) {
  const std::string file = write("shop.py");
  const std::string other = write("shop_test.py");
  const TracedTargets targets({{"shop", file, false}});
  EXPECT_EQ(module_name(targets, file), "shop");
  EXPECT_EQ(module_name(targets, (root_ / "." / "x" / ".." / "shop.py").string()), "shop") << "x is not there";
  EXPECT_EQ(module_name(targets, (root_ / "." / "shop.py").string()), "shop");
  EXPECT_EQ(module_name(targets, other), "");
}

TEST_F(TracedTargetsTest, APackageIsWhatCanBeImportedFromIt) {
  const TracedTargets targets({{"shop", fs::path(write("shop/__init__.py")).parent_path().string(), true}});
  EXPECT_EQ(module_name(targets, write("shop/__init__.py")), "shop");
  EXPECT_EQ(module_name(targets, write("shop/cart.py")), "shop.cart");
  EXPECT_EQ(module_name(targets, write("shop/pay/__init__.py")), "shop.pay");
  EXPECT_EQ(module_name(targets, write("shop/pay/card.py")), "shop.pay.card");
  EXPECT_EQ(module_name(targets, write("shop/.venv/lib/click.py")), "");
  EXPECT_EQ(module_name(targets, write("shop/venv/python3.13/click.py")), "");
  EXPECT_EQ(module_name(targets, write("shop/1st.py")), "");
  EXPECT_EQ(module_name(targets, write("shop/page.html")), "");
  EXPECT_EQ(module_name(targets, write("shopping/cart.py")), "");
}

TEST_F(TracedTargetsTest, ADirectoryOfTheSameNameIsNotTheTarget) {
  const TracedTargets targets({{"shop", fs::path(write("shop/shop/__init__.py")).parent_path().string(), true}});
  EXPECT_EQ(module_name(targets, write("shop/tests/test_chaos.py")), "");
  EXPECT_EQ(module_name(targets, write("shop/x.py")), "");
  EXPECT_EQ(module_name(targets, write("shop/shop/x.py")), "shop.x");
}

TEST_F(TracedTargetsTest, LinksAreFollowedBothWays) {
  const std::string file = write("source/cart.py");
  fs::create_directory_symlink(root_ / "source", root_ / "shop");
  const TracedTargets through_link({{"shop", (root_ / "shop").string(), true}});
  EXPECT_EQ(module_name(through_link, file), "shop.cart");
  fs::create_directory(root_ / "linked");
  fs::create_symlink(file, root_ / "linked" / "cart.py");
  const TracedTargets of_links({{"linked", (root_ / "linked").string(), true}});
  const auto source = of_links.source_of((root_ / "linked" / "cart.py").string());
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->module_name, "linked.cart");
  EXPECT_EQ(source->path, file);
}

TEST_F(TracedTargetsTest, WhatIsNoFileIsOutside) {
  const TracedTargets targets({{"shop", write("shop.py"), false}});
  for (const char* filename : {"", "<string>", "<frozen importlib._bootstrap>", "no/such/file.py"}) {
    EXPECT_EQ(module_name(targets, filename), "") << filename;
  }
}

TEST_F(TracedTargetsTest, WhatWasDeletedIsWhereItWas) {
  fs::create_directory(root_ / "source");
  fs::create_directory_symlink(root_ / "source", root_ / "link");
  const std::vector<TracedTarget> named = {{"shop", (root_ / "link" / "shop.py").string(), false},
                                           {"cart", (root_ / "cart").string(), true}};
  for (const std::string& file : {write("link/shop.py"), write("cart/item.py")}) {
    fs::remove(file);
  }
  fs::remove(root_ / "cart");
  const TracedTargets targets(named);
  const auto shop = targets.source_of((root_ / "link" / "shop.py").string());
  ASSERT_TRUE(shop.has_value());
  EXPECT_EQ(shop->path, (root_ / "source" / "shop.py").string());
  EXPECT_EQ(module_name(targets, (root_ / "cart" / "item.py").string()), "cart.item");
  EXPECT_EQ(module_name(targets, (root_ / "other.py").string()), "");
}

TEST_F(TracedTargetsTest, ARelativeNameCountsFromWhereTheTargetsWereNamed) {
  write("elsewhere/shop.py");
  const std::string file = write("shop.py");
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  const TracedTargets targets({{"shop", "shop.py", false}});
  fs::current_path(root_ / "elsewhere");
  const auto source = targets.source_of("shop.py");
  fs::current_path(before);
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->path, file);
}

TEST_F(TracedTargetsTest, NothingIsFoundByARelativeNameWhereTheWorkingFolderIsGone) {
  const TracedTargets targets({{"shop", write("shop.py"), false}});
  const fs::path here = fs::current_path();
  fs::create_directory(root_ / "gone");
  fs::current_path(root_ / "gone");
  fs::remove(root_ / "gone");
  EXPECT_EQ(module_name(targets, "shop.py"), "");
  EXPECT_EQ(module_name(targets, (root_ / "shop.py").string()), "shop");
  fs::current_path(here);
}

TEST_F(TracedTargetsTest, ATargetWithoutAPathIsRefused) {
  EXPECT_THROW(TracedTargets({{"shop", "", false}}), ConfigError);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
