import { filterSetOf } from '../../../../src/core/fields/field.ts'
import type { FilterSet } from '../../../../src/core/fields/field-type.ts'
import {
  type Arity,
  arityFor,
  type Condition,
  type Filter,
  type FilterGroup,
  findOperator,
  isComplete,
  isGroup,
  isWithinOperand,
  operandNeeds,
  operatorsFor,
} from '../../../../src/core/filters/index.ts'
import type { Field } from '../../../../src/core/model.ts'

/** Path of a filter node: child indexes from the root group. */
export type Path = readonly number[]

/** A filter in the editor; its root is always a group. */
export const asGroup = (filter: Filter | null): FilterGroup =>
  filter === null
    ? { join: 'and', children: [] }
    : isGroup(filter)
      ? filter
      : { join: 'and', children: [filter] }

/** Stores an empty filter as null. */
export const fromGroup = (group: FilterGroup): Filter | null => (group.children.length === 0 ? null : group)

/** Replaces the node at a path; null removes it, with groups that become empty. */
export function replaceAt(group: FilterGroup, path: Path, next: Filter | null): FilterGroup {
  const [index, ...rest] = path
  if (index === undefined) return next && isGroup(next) ? next : group
  const child = group.children[index]
  if (!child) return group
  const replaced = rest.length > 0 && isGroup(child) ? emptyToNull(replaceAt(child, rest, next)) : next
  const children =
    replaced === null ? group.children.toSpliced(index, 1) : group.children.with(index, replaced)
  return { ...group, children }
}

/** Changes the children of the group that contains the node at a path. */
function withSiblings(
  group: FilterGroup,
  path: Path,
  change: (children: Filter[], index: number) => Filter[],
): FilterGroup {
  const [index, ...rest] = path
  const child = index === undefined ? undefined : group.children[index]
  if (index === undefined || !child) return group
  if (rest.length === 0) return { ...group, children: change(group.children, index) }
  if (!isGroup(child)) return group
  return { ...group, children: group.children.with(index, withSiblings(child, rest, change)) }
}

/** Duplicates the node at a path; the copy follows it. */
export const copyAt = (group: FilterGroup, path: Path): FilterGroup =>
  withSiblings(group, path, (children, index) => {
    const part = children[index]
    return part ? children.toSpliced(index + 1, 0, structuredClone(part)) : children
  })

/** Moves the node at a path down (1) or up (-1) within its group. */
export const moveAt = (group: FilterGroup, path: Path, by: 1 | -1): FilterGroup =>
  withSiblings(group, path, (children, index) => {
    const [part, to] = [children[index], index + by]
    if (!part || to < 0 || to >= children.length) return children
    return children.toSpliced(index, 1).toSpliced(to, 0, part)
  })

const emptyToNull = (group: FilterGroup): FilterGroup | null => (group.children.length === 0 ? null : group)

/** A new condition on a field with the most common operator and no value. */
export function newCondition(field: Field): Condition {
  const set = setOfField(field)
  return withOperator({ fieldId: field.id, operator: '', value: null }, FIRST_OPERATOR[set], field)
}

const FIRST_OPERATOR: Record<FilterSet, string> = {
  text: 'like',
  number: 'eq',
  select: 'eq',
  multiSelect: 'anyof',
  checkbox: 'checked',
  date: 'eq',
  user: 'anyof',
  time: 'eq',
  presence: 'notblank',
  attachment: 'like',
  links: 'gt',
  none: '',
}

export const setOfField = (field: Field): FilterSet => filterSetOf(field)

/** True for fields that can be filtered, sorted and searched; not for codes, buttons and broken fields. */
export const isComparable = (field: Field): boolean => setOfField(field) !== 'none'

/** Changes the field of a condition; keeps operator and value if the new field supports them. */
export function withField(condition: Condition, field: Field, before: Field | undefined): Condition {
  const fresh = newCondition(field)
  if (!before || setOfField(before) !== setOfField(field)) return fresh
  const isChoice = setOfField(field) === 'select' || setOfField(field) === 'multiSelect'
  return { ...condition, fieldId: field.id, value: isChoice ? null : condition.value }
}

/** Changes the operator of a condition; keeps the value if its kind still fits. */
export function withOperator(condition: Condition, key: string, field: Field): Condition {
  const set = setOfField(field)
  const arity = arityOf(key, set)
  const same = arity === arityOf(condition.operator, set)
  const base = { fieldId: field.id, operator: key }
  if (arity !== 'date') return { ...base, value: same ? condition.value : emptyValue(arity) }
  const isWithin = key === 'isWithin'
  const operand = condition.operand ?? 'exactDate'
  const keeps = same && isWithinOperand(operand) === isWithin
  return {
    ...base,
    operand: keeps ? operand : isWithin ? 'pastWeek' : 'exactDate',
    value: keeps ? condition.value : null,
  }
}

/** Replaces the operand of a date condition; the value stays if both operands take the same kind. */
export function withOperand(condition: Condition, operand: NonNullable<Condition['operand']>): Condition {
  const keeps = operandNeeds(condition.operand ?? 'exactDate') === operandNeeds(operand)
  return { ...condition, operand, value: keeps ? condition.value : null }
}

const emptyValue = (arity: Arity): Condition['value'] => (arity === 'many' || arity === 'two' ? [] : null)

/** Operands of an operator on a field. */
export function arityOf(key: string, set: FilterSet): Arity {
  const operator = findOperator(key)
  return operator ? arityFor(operator, set) : 'none'
}

/** Operators offered for a field. An operator that only programs can set is offered if it is the current one. */
export function operatorChoices(field: Field, current: string): { key: string; label: string }[] {
  const offered = operatorsFor(setOfField(field)).map(({ key, label }) => ({ key, label }))
  return offered.some(({ key }) => key === current) ? offered : [...offered, { key: current, label: current }]
}

/** Removes conditions without a value and groups that become empty. */
export function completeFilter(filter: Filter | null, fields: readonly Field[]): Filter | null {
  if (filter === null) return null
  if (!isGroup(filter)) return isEffective(filter, fields) ? filter : null
  const children = filter.children
    .map((child) => completeFilter(child, fields))
    .filter((child) => child !== null)
  return children.length === 0 ? null : { ...filter, children }
}

/** True if the field of a condition exists and the condition has its values; others have no effect. */
export function isEffective(condition: Condition, fields: readonly Field[]): boolean {
  const field = fields.find(({ id }) => id === condition.fieldId)
  return field !== undefined && isComplete(condition, field)
}

/** All conditions of a filter with their paths. */
export function conditionsOf(filter: Filter | null, path: Path = []): { condition: Condition; path: Path }[] {
  if (filter === null) return []
  if (!isGroup(filter)) return [{ condition: filter, path }]
  return filter.children.flatMap((child, index) => conditionsOf(child, [...path, index]))
}
