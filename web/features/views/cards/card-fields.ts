import { completeOptions, type FieldOptions } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { Field, View } from '../../../../src/core/model.ts'
import { shownFields } from '../state/arrange-fields.ts'

/** A field of cards, with its options parsed once for all cards. */
export interface CardField {
  field: Field
  options: FieldOptions
}

/** The fields of a view's cards. */
export interface CardFields {
  /** The display field, drawn as the card's title. */
  title: CardField | null
  /** The shown fields below it, in the order of the view. */
  rest: CardField[]
}

/**
 * The fields that a view shows, as its cards draw them. Keep the result while fields and view stay the same:
 * cards are memoised on it.
 *
 * @param except fields that a card shows in another way: its cover, the field that it is stacked by
 */
export function cardFields(
  fields: readonly Field[],
  view: Pick<View, 'fields'>,
  except: readonly (string | null)[] = [],
): CardFields {
  const display = fields.find((field) => field.isDisplay)
  const rest = shownFields(fields, view)
    .map(({ field }) => field)
    .filter((field) => !field.isDisplay && !except.includes(field.id))
  return { title: display ? cardField(display) : null, rest: rest.map(cardField) }
}

const cardField = (field: Field): CardField => ({
  field,
  options: completeOptions(fieldType(field.type), field.options),
})
