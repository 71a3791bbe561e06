(class_definition name: (identifier) @name) @definition.class

(class_definition
  body: (block
    [
      (function_definition name: (identifier) @name) @definition.constructor
      (decorated_definition (function_definition name: (identifier) @name) @definition.constructor)
    ])
  (#eq? @name "__init__"))

(function_definition name: (identifier) @name) @definition.function

(module
  (expression_statement
    (assignment left: (identifier) @name) @definition.constant)
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))

(module
  (expression_statement
    (assignment
      left: [
        (identifier) @name
        (pattern_list (identifier) @name)
        (tuple_pattern (identifier) @name)
      ]) @definition.variable))

(module (type_alias_statement left: (type (identifier) @name)) @definition.type)
(module (type_alias_statement left: (type (generic_type (identifier) @name))) @definition.type)

(class_definition
  body: (block
    (expression_statement
      (assignment left: (identifier) @name) @definition.field)))
