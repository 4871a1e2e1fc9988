import type { FieldOptions } from './field-type.ts'
import type { FieldTypeName } from './index.ts'

/** What one detector found; null: it is something else. */
export type Detected = { type: FieldTypeName; options?: FieldOptions; ambiguous?: true } | null
