#include <string>
#include <vector>

namespace shapes {

constexpr int kLimit = 100;

class Shape {
public:
    explicit Shape(std::string name) : name_(std::move(name)) {}
    virtual ~Shape() = default;

    virtual double area() const = 0;
    const std::string &name() const { return name_; }
    bool operator==(const Shape &other) const;
    static int count;

protected:
    std::string name_;
};

template <typename T>
class Box : public Shape {
public:
    T *get();
    T value;
};

struct Circle final : Shape {
    Circle(double radius);
    double area() const override;
    double radius;
};

enum class Kind { Round, Square };

using Area = double;

template <typename T>
concept Measured = requires(T it) { it.area(); };

template <typename T>
T square(T x)
{
    return x * x;
}

namespace detail::deep {
inline int twice(int x) { return x + x; }
}

}  // namespace shapes

shapes::Circle::Circle(double radius) : Shape("circle"), radius(radius) {}

double shapes::Circle::area() const
{
    return shapes::square<double>(radius) * 3.14;
}

bool shapes::Shape::operator==(const Shape &other) const { return name_ == other.name_; }

template <typename T>
T *shapes::Box<T>::get()
{
    return &value;
}

std::vector<int> &measure(const std::vector<shapes::Circle> &all);
