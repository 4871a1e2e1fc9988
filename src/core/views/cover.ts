import { z } from 'zod'
import type { Field } from '../fields/field.ts'
import { valueTypeOf } from './view-kind.ts'

/** The picture at the top of a card: the first image of an attachment field; `fit` shows it whole, `crop` fills. */
export const coverShape = {
  coverFieldId: z.string().max(64).nullable().default(null),
  coverFit: z.enum(['fit', 'crop']).default('fit'),
}

/** True for a field whose files can be a card's cover. */
export const isCover = (field: Field): boolean => valueTypeOf(field)?.holdsFiles === true

/** The first field of a table that can be a cover, or null. */
export const firstCover = (fields: readonly Field[]): string | null => fields.find(isCover)?.id ?? null
