import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react'
import type { Choice } from '../../../../../src/core/fields/choices.ts'
import type { Person } from '../../../../../src/core/model.ts'
import type { KanbanOptions, KanbanStack } from '../../../../../src/core/views/index.ts'
import {
  MAX_STACKS,
  type StackBy,
  type StackKey,
  type StackTotals,
} from '../../../../records/layouts/stack-by.ts'
import type { StacksLayout } from '../../../../records/layouts/stacks-layout.ts'
import type { KanbanTotals } from '../../../../records/layouts/stacks-paging.ts'
import type { RecordStore } from '../../../../records/record-store.ts'

/** A stack of the kanban with its settings. */
export interface Stack {
  key: StackKey
  /** The stack's option, if the field still has it. */
  choice: Choice | null
  isCollapsed: boolean
  isHidden: boolean
  /** True while it has no records to be listed for, e.g. during a search: it is not drawn, but keeps its settings. */
  isAbsent: boolean
  /** Null while it is not known. */
  totals: StackTotals | null
}

export interface StackSources {
  by: StackBy
  options: Pick<KanbanOptions, 'stacks'>
  people: readonly Person[]
  /** By key, in the order that the server lists them; null while they are being read. */
  totals: ReadonlyMap<StackKey, StackTotals> | null
}

/** With more people than this, only those with cards get a stack. */
const MAX_IDLE_PEOPLE = 30

/** All stacks of a kanban in display order, including hidden ones: first the arranged ones, then the others. */
export function stacksOf({ by, options, people, totals }: StackSources): Stack[] {
  const choices = by.kind === 'option' ? choicesOf(by) : NO_CHOICES
  const natural = naturalKeys(by, choices, people, totals)
  const known = new Set(natural)
  const settings = new Map(options.stacks.map((one) => [one.key, one]))
  const kept = new Set(absentKeys(by, options, known))
  const arranged = [...settings.keys()].filter((key) => known.has(key) || kept.has(key))
  const keys = [...arranged, ...natural.filter((key) => !settings.has(key))]
  return keys.slice(0, MAX_STACKS).map((key) => ({
    key,
    choice: key === null ? null : (choices.get(key) ?? null),
    isCollapsed: settings.get(key)?.isCollapsed ?? false,
    isHidden: settings.get(key)?.isHidden ?? false,
    isAbsent: !known.has(key),
    totals: totals && (totals.get(key) ?? NOTHING),
  }))
}

/** Stacks without records that may come back, unlike deleted options. If there are too many, hidden ones are kept. */
function absentKeys(
  by: StackBy,
  { stacks }: StackSources['options'],
  known: ReadonlySet<StackKey>,
): StackKey[] {
  const mayReturn = (key: StackKey) => key === null || by.kind === 'person' || by.kind === 'record'
  return stacks
    .filter(({ key }) => !known.has(key) && mayReturn(key))
    .toSorted((a, b) => Number(b.isHidden) - Number(a.isHidden))
    .slice(0, Math.max(0, MAX_STACKS - known.size))
    .map(({ key }) => key)
}

const NOTHING: StackTotals = { count: 0, summary: null }
const NO_CHOICES: ReadonlyMap<string, Choice> = new Map()

const choicesOf = ({ field }: StackBy): ReadonlyMap<string, Choice> => {
  const { choices } = field.options
  return Array.isArray(choices) ? new Map(choices.map((one: Choice) => [one.title, one])) : NO_CHOICES
}

function naturalKeys(
  by: StackBy,
  choices: ReadonlyMap<string, Choice>,
  people: readonly Person[],
  totals: StackSources['totals'],
): StackKey[] {
  const filled = [...(totals?.keys() ?? [])].filter((key) => (totals?.get(key)?.count ?? 0) > 0)
  // If every record should have a value, the stack without one is offered only while records are in it.
  const isNullIdle = by.field.required || by.kind === 'tick'
  const first: StackKey[] = isNullIdle && !filled.includes(null) ? [] : [null]
  const offered: StackKey[] =
    by.kind === 'option'
      ? [...choices.keys()]
      : by.kind === 'tick'
        ? ['false', 'true']
        : by.kind === 'person' && people.length <= MAX_IDLE_PEOPLE
          ? people.map(({ id }) => id)
          : []
  return [...new Set([...first, ...offered, ...filled])]
}

/** The visible stacks. */
export const shownStacks = (stacks: readonly Stack[], hideEmpty: boolean): Stack[] =>
  stacks.filter(
    ({ isHidden, isAbsent, totals }) => !isHidden && !isAbsent && !(hideEmpty && totals?.count === 0),
  )

const settingsOf = ({ key, isCollapsed, isHidden }: Stack): KanbanStack => ({ key, isCollapsed, isHidden })

/** Stored stacks after a change to one stack. */
export const withStack = (
  stacks: readonly Stack[],
  key: StackKey,
  patch: Partial<Omit<KanbanStack, 'key'>>,
): KanbanStack[] => stacks.map((stack) => ({ ...settingsOf(stack), ...(stack.key === key ? patch : {}) }))

/** Stored stacks after a change to all of them. */
export const withAllStacks = (
  stacks: readonly Stack[],
  patch: Partial<Omit<KanbanStack, 'key'>>,
): KanbanStack[] => stacks.map((stack) => ({ ...settingsOf(stack), ...patch }))

/** Stored stacks after moving one before another; `undefined`: to the end. */
export function moveStack(
  stacks: readonly Stack[],
  key: StackKey,
  before: StackKey | undefined,
): KanbanStack[] {
  const moved = stacks.filter((stack) => stack.key === key)
  const others = stacks.filter((stack) => stack.key !== key)
  const at = before === undefined ? -1 : others.findIndex((stack) => stack.key === before)
  return others.toSpliced(at === -1 ? others.length : at, 0, ...moved).map(settingsOf)
}

interface StacksInput {
  layout: StacksLayout
  store: RecordStore
  by: StackBy
  options: KanbanOptions
  people: readonly Person[]
  totals: KanbanTotals | null
}

/** The stacks of a kanban, and those of them that it shows. */
export function useStacks({ layout, store, by, options, people, totals }: StacksInput) {
  // A card that has just come in fills a stack before the server has counted.
  const filled = useSyncExternalStore(
    store.source.subscribe,
    useCallback(() => filledKeys(layout), [layout]),
  )
  const stacks = useMemo(() => {
    const known = totals && withFilled(totals.stacks, JSON.parse(filled) as StackKey[])
    return stacksOf({ by, options, people, totals: known })
  }, [by, options, people, totals, filled])
  const shown = useMemo(() => shownStacks(stacks, options.hideEmpty), [stacks, options.hideEmpty])
  useEffect(() => layout.setOrder(shown.map(({ key }) => key)), [layout, shown])
  return { stacks, shown }
}

const filledKeys = ({ loaded }: StacksLayout): string =>
  JSON.stringify(
    loaded.all().flatMap((cards) => ((cards.count ?? cards.segments.end) > 0 ? [cards.key] : [])),
  )

/** The totals of stacks, combined with whether they currently have cards. */
function withFilled(
  totals: ReadonlyMap<StackKey, StackTotals>,
  filled: readonly StackKey[],
): ReadonlyMap<StackKey, StackTotals> {
  const all = new Map<StackKey, StackTotals>()
  for (const [key, { count, summary }] of totals)
    all.set(key, { count: filled.includes(key) ? Math.max(1, count) : 0, summary })
  for (const key of filled) if (!all.has(key)) all.set(key, { count: 1, summary: null })
  return all
}
