(namespace_definition name: (_) @name) @definition.module
(class_specifier name: (_) @name body: (_)) @definition.class
(alias_declaration name: (type_identifier) @name) @definition.type
(concept_definition name: (identifier) @name) @definition.trait

(function_definition
  declarator: [
    (function_declarator
      declarator: [
        (field_identifier)
        (qualified_identifier)
        (destructor_name)
        (operator_name)
        (template_function)
      ] @name)
    (_
      (function_declarator
        declarator: [(field_identifier) (qualified_identifier) (operator_name)] @name))
    (_
      (_
        (function_declarator
          declarator: [(field_identifier) (qualified_identifier) (operator_name)] @name)))
  ]) @definition.function

(field_declaration
  declarator: [
    (function_declarator
      declarator: [(field_identifier) (destructor_name) (operator_name)] @name)
    (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  ]) @definition.method
(declaration
  declarator: [
    (function_declarator declarator: [(destructor_name) (operator_name)] @name)
    (_ (function_declarator declarator: (operator_name) @name))
  ]) @outer.function
(field_declaration
  declarator: (reference_declarator (field_identifier) @name)) @definition.field
