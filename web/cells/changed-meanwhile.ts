import { mergesEdits } from '../../src/core/fields/traits.ts'
import type { Field } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'

/** Hint beside an open editor whose value another person has changed: what happens when it is saved. */
export const changedMeanwhile = (field: Field): string =>
  mergesEdits(field) ? m.cells_changed_meanwhile_merges() : m.cells_changed_meanwhile_asks()
