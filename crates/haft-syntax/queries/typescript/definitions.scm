(abstract_class_declaration name: (type_identifier) @name) @definition.class
(interface_declaration name: (type_identifier) @name) @definition.interface
(type_alias_declaration name: (type_identifier) @name) @definition.type
(enum_declaration name: (identifier) @name) @definition.enum
(enum_body name: (property_identifier) @name @definition.variant)
(enum_assignment name: (property_identifier) @name) @definition.variant
(internal_module name: (_) @name) @definition.module
(module name: (_) @name) @definition.module

(function_signature name: (identifier) @name) @definition.function
(method_signature
  name: [(property_identifier) (private_property_identifier)] @name) @definition.method
(abstract_method_signature
  name: [(property_identifier) (private_property_identifier)] @name) @definition.method
(property_signature
  name: [(property_identifier) (private_property_identifier)] @name) @definition.field

(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name
  value: (arrow_function body: (_) @body)) @definition.method
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name) @definition.field
