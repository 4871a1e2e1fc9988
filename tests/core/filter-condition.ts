import type { Condition, MatchContext } from '../../src/core/filters/index.ts'
import { byId, FIELDS, NOW } from './filter-fields.ts'

const PEOPLE = [
  { id: 'usann', email: 'ann@example.com', displayName: 'Ann' },
  { id: 'usbob', email: 'bob@example.org', displayName: null },
]
/** What the tests' filters are read against. */
export const context: MatchContext = { now: NOW, field: byId, actorId: 'usann', people: PEOPLE }

/** A condition on the field of that title. */
export const on = (
  title: string,
  operator: string,
  value: Condition['value'] = null,
  operand?: string,
): Condition => {
  const condition: Condition = { fieldId: FIELDS[title]?.id ?? '', operator, value }
  return operand ? { ...condition, operand: operand as Condition['operand'] } : condition
}
