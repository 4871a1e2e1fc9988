import { isComputed } from '../../../src/core/fields/field.ts'
import { parseValue } from '../../../src/core/fields/read.ts'
import type { Field } from '../../../src/core/model.ts'
import { fitsAddress, HIDDEN_PARAM, MODE_PARAM, READ_ONLY_PARAM } from '../forms/prefill.ts'

/** How prefilled answers appear to visitors. */
export const PREFILL_MODES = ['editable', 'read-only', 'hidden'] as const
export type PrefillMode = (typeof PREFILL_MODES)[number]

/** Query parameters with other meanings: fields with these titles cannot be prefilled. */
const TAKEN: readonly string[] = [MODE_PARAM, HIDDEN_PARAM, READ_ONLY_PARAM]

/** Whether a link can prefill the field. */
export const canPrefill = (field: Field): boolean =>
  fitsAddress(field) && !isComputed(field) && !field.isSystem && !TAKEN.includes(field.title)

/** URL of a form with values by field title: `…?Name=Ann&_prefill=hidden`. */
export function prefillAddress(
  address: string,
  values: readonly { title: string; text: string }[],
  mode: PrefillMode,
): string {
  const query = new URLSearchParams()
  for (const { title, text } of values) if (text !== '') query.append(title, text)
  if (query.size === 0) return address
  if (mode !== 'editable') query.append(MODE_PARAM, mode)
  return `${address}?${query}`
}

/** Whether the text is a value of the field; empty text is always valid. */
export const isPrefillValue = (field: Field, text: string): boolean =>
  text === '' || parseValue(field, text) !== null
