import * as z from 'zod/mini'
import type { ChoiceTitles } from '../fields/choice-titles.ts'
import type { Field } from '../fields/field.ts'
import { hasSingleChoice, holdsPeople, isBoolean, isLinkType } from '../fields/traits.ts'
import { m } from '../messages.gen.ts'
import {
  coverShape,
  firstCover,
  fitOrNull,
  isCover,
  type ViewKindDefinition,
  wrongType,
} from './view-kind.ts'

/**
 * Display settings of a stack. Its key is the value of the stacked field: an option's title, a user id,
 * `true`/`false` or a linked record's id; null is the stack of records without a value. Stacks without
 * settings come last, in the order of their options.
 */
export const kanbanStack = z.strictObject({
  key: z.nullable(z.string().check(z.maxLength(1000))),
  isCollapsed: z._default(z.boolean(), false),
  isHidden: z._default(z.boolean(), false),
})
export type KanbanStack = z.output<typeof kanbanStack>

const kanbanOptions = z.strictObject({
  ...coverShape,
  /** The field whose values form the stacks; null: not chosen yet. */
  stackFieldId: z._default(z.nullable(z.string().check(z.maxLength(64))), null),
  /** In display order. */
  stacks: z._default(z.array(kanbanStack).check(z.maxLength(1000)), []),
  hideEmpty: z._default(z.boolean(), false),
})
export type KanbanOptions = z.output<typeof kanbanOptions>

/** True for a field that can form stacks: a single select, one person, a checkbox or a link to one record. */
export const isStackable = (field: Field): boolean => {
  if (field.error !== null) return false
  if (hasSingleChoice(field) || isBoolean(field)) return true
  if (holdsPeople(field)) return field.options.multiple !== true
  return isLinkType(field) && field.options.kind === 'bt'
}

export const kanban: ViewKindDefinition<KanbanOptions> = {
  kind: 'kanban',
  wireNumber: 4,
  label: 'Kanban',
  options: kanbanOptions,
  defaults: (fields) => ({
    stackFieldId: (fields.find(hasSingleChoice) ?? fields.find(isStackable))?.id ?? null,
    coverFieldId: firstCover(fields),
    coverFit: 'fit',
    stacks: [],
    hideEmpty: false,
  }),
  fieldIds: ({ stackFieldId, coverFieldId }) => [stackFieldId, coverFieldId].filter((id) => id !== null),
  prune(options, field) {
    const stackFieldId = fitOrNull(options.stackFieldId, field, isStackable)
    return {
      ...options,
      stackFieldId,
      // Stack settings apply to one field only.
      stacks: stackFieldId === null ? [] : options.stacks,
      coverFieldId: fitOrNull(options.coverFieldId, field, isCover),
    }
  },
  renameChoices: (options, fieldId, titles) =>
    options.stackFieldId === fieldId
      ? { ...options, stacks: renamedStacks(options.stacks, titles) }
      : options,
  keepParts(undone, { current, from, to }) {
    // Stack settings apply to one field only.
    if (undone.stackFieldId !== current.stackFieldId) return { ...undone, stacks: to.stacks }
    const isSameField = [from, to].every(({ stackFieldId }) => stackFieldId === current.stackFieldId)
    const stacks = isSameField ? undoneStacks(current.stacks, from.stacks, to.stacks) : current.stacks
    return { ...undone, stacks }
  },
  problem: ({ stackFieldId, coverFieldId, stacks }, field) =>
    wrongType([stackFieldId], field, isStackable, m.view_error_not_stackable) ??
    wrongType([coverFieldId], field, isCover, m.view_error_not_attachment) ??
    (new Set(stacks.map(({ key }) => key)).size < stacks.length ? 'A stack is named twice' : null),
  stacks: ({ stackFieldId, stacks }) => ({
    fieldId: stackFieldId,
    hidden: stacks.flatMap(({ key, isHidden }) => (isHidden ? [key] : [])),
  }),
  setup: {
    read: ({ stackFieldId }) => ({ fieldId: stackFieldId, toFieldId: null }),
    write: ({ fieldId }, copied) => ({
      stackFieldId: fieldId,
      // Stack settings apply to one field only.
      ...(copied?.stackFieldId !== fieldId && { stacks: [] }),
    }),
  },
  hasManualOrder: true,
  shownAtFirst: 3,
}

/** Stacks one by one, so that one that somebody else has hidden since stays hidden. */
function undoneStacks(current: KanbanStack[], from: KanbanStack[], to: KanbanStack[]): KanbanStack[] {
  const [own, before, after] = [current, from, to].map(
    (stacks) => new Map(stacks.map((stack) => [stack.key, stack])),
  )
  const keys = (stacks: KanbanStack[]) => stacks.map(({ key }) => key)
  const hasMoved = JSON.stringify(keys(from)) !== JSON.stringify(keys(to))
  const order = hasMoved ? [...keys(to), ...keys(current)] : keys(current)
  return [...new Set(order)].flatMap((key) => {
    const [now, was, then] = [own?.get(key), before?.get(key), after?.get(key)]
    if (!now) return then && !was ? then : []
    if (!was) return now
    const { isCollapsed, isHidden } = then ?? { isCollapsed: false, isHidden: false }
    const undone = {
      key,
      isCollapsed: was.isCollapsed === isCollapsed ? now.isCollapsed : isCollapsed,
      isHidden: was.isHidden === isHidden ? now.isHidden : isHidden,
    }
    // Without settings before the change, and none since.
    return then || undone.isCollapsed || undone.isHidden ? undone : []
  })
}

/** If a renamed stack takes the key of another, drops the other: keys are unique. */
function renamedStacks(stacks: KanbanStack[], titles: ChoiceTitles): KanbanStack[] {
  const renamed = stacks.map((stack) =>
    stack.key === null ? stack : { ...stack, key: titles.get(stack.key) ?? stack.key },
  )
  const isRenamed = (index: number) => renamed[index]?.key !== stacks[index]?.key
  const taken = new Set(renamed.filter((_, index) => isRenamed(index)).map(({ key }) => key))
  return renamed.filter(({ key }, index) => isRenamed(index) || !taken.has(key))
}
