import type { Expression } from './scope.ts'

/** A QR or bar code: the value that it shows. */
export const codeExpression: Expression = (field, scope, form) => {
  const shown = scope.model.field(String(field.options.valueFieldId ?? ''))
  return shown ? scope.of(shown, scope, form) : null
}
