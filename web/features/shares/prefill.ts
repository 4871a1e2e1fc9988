import { isComputed } from '../../../src/core/fields/field.ts'
import { parseValue } from '../../../src/core/fields/read.ts'
import type { Field } from '../../../src/core/model.ts'
import { fitsAddress, HIDDEN_PARAM, MODE_PARAM, READ_ONLY_PARAM } from '../forms/prefill.ts'

/** What a visitor may do with what a form's link has filled in. */
export const PREFILL_MODES = ['editable', 'read-only', 'hidden'] as const
export type PrefillMode = (typeof PREFILL_MODES)[number]

/** What a link says besides answers: a field of such a title cannot be filled in by one. */
const TAKEN: readonly string[] = [MODE_PARAM, HIDDEN_PARAM, READ_ONLY_PARAM]

/** True for a field that a link can fill in. */
export const canPrefill = (field: Field): boolean =>
  fitsAddress(field) && !isComputed(field) && !field.isSystem && !TAKEN.includes(field.title)

/** A form's address with values for its fields, by their titles: `…?Name=Ann&_prefill=hidden`. */
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

/** True where the text is a value of the field; empty text fills nothing in. */
export const isPrefillValue = (field: Field, text: string): boolean =>
  text === '' || parseValue(field, text) !== null
