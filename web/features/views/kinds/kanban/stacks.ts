import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react'
import type { Choice } from '../../../../../src/core/fields/choices.ts'
import type { Person } from '../../../../../src/core/model.ts'
import type { KanbanOptions, KanbanStack } from '../../../../../src/core/views/index.ts'
import {
  MAX_STACKS,
  type StackBy,
  type StackKey,
  type StackNumbers,
} from '../../../../records/layouts/stack-by.ts'
import type { Board } from '../../../../records/layouts/stacks-layout.ts'
import type { BoardNumbers } from '../../../../records/layouts/stacks-paging.ts'
import type { RecordStore } from '../../../../records/record-store.ts'

/** A stack as the board draws it. */
export interface Stack {
  key: StackKey
  /** The option that it stands for, where it is one that the field still has. */
  choice: Choice | null
  isCollapsed: boolean
  isHidden: boolean
  /** Null while it is not known. */
  numbers: StackNumbers | null
}

export interface StackSources {
  by: StackBy
  options: Pick<KanbanOptions, 'stacks'>
  people: readonly Person[]
  /** By key, in the order that the server lists them; null while they are being read. */
  numbers: ReadonlyMap<StackKey, StackNumbers> | null
}

/** With more people than this, only those who have cards get a stack. */
const MAX_IDLE_PEOPLE = 30

/**
 * Every stack of a board in the order of the screen, hidden ones too: as they were arranged, then those that
 * nobody has arranged yet.
 */
export function stacksOf({ by, options, people, numbers }: StackSources): Stack[] {
  const choices = by.kind === 'option' ? choicesOf(by) : NO_CHOICES
  const natural = naturalKeys(by, choices, people, numbers)
  const known = new Set(natural)
  const lines = new Map(options.stacks.map((line) => [line.key, line]))
  const arranged = [...lines.keys()].filter((key) => known.has(key))
  const keys = arranged.length === 0 ? natural : [...arranged, ...natural.filter((key) => !lines.has(key))]
  return keys.slice(0, MAX_STACKS).map((key) => ({
    key,
    choice: key === null ? null : (choices.get(key) ?? null),
    isCollapsed: lines.get(key)?.isCollapsed ?? false,
    isHidden: lines.get(key)?.isHidden ?? false,
    numbers: numbers && (numbers.get(key) ?? NOTHING),
  }))
}

const NOTHING: StackNumbers = { count: 0, summary: null }
const NO_CHOICES: ReadonlyMap<string, Choice> = new Map()

const choicesOf = ({ field }: StackBy): ReadonlyMap<string, Choice> => {
  const { choices } = field.options
  return Array.isArray(choices) ? new Map(choices.map((one: Choice) => [one.title, one])) : NO_CHOICES
}

function naturalKeys(
  by: StackBy,
  choices: ReadonlyMap<string, Choice>,
  people: readonly Person[],
  numbers: StackSources['numbers'],
): StackKey[] {
  const filled = [...(numbers?.keys() ?? [])].filter((key) => (numbers?.get(key)?.count ?? 0) > 0)
  // Where a value is required, or always there, the stack of those without one shows only what went wrong.
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

/** The stacks that stand on the board. */
export const shownStacks = (stacks: readonly Stack[], hideEmpty: boolean): Stack[] =>
  stacks.filter(({ isHidden, numbers }) => !isHidden && !(hideEmpty && numbers?.count === 0))

const lineOf = ({ key, isCollapsed, isHidden }: Stack): KanbanStack => ({ key, isCollapsed, isHidden })

/** Stored stacks after a change to one stack. */
export const withStack = (
  stacks: readonly Stack[],
  key: StackKey,
  patch: Partial<Omit<KanbanStack, 'key'>>,
): KanbanStack[] => stacks.map((stack) => ({ ...lineOf(stack), ...(stack.key === key ? patch : {}) }))

/** Stored stacks after a change to all of them. */
export const withAllStacks = (
  stacks: readonly Stack[],
  patch: Partial<Omit<KanbanStack, 'key'>>,
): KanbanStack[] => stacks.map((stack) => ({ ...lineOf(stack), ...patch }))

/** Stored stacks after moving one before another; `undefined`: to the end. */
export function moveStack(
  stacks: readonly Stack[],
  key: StackKey,
  before: StackKey | undefined,
): KanbanStack[] {
  const moved = stacks.filter((stack) => stack.key === key)
  const others = stacks.filter((stack) => stack.key !== key)
  const at = before === undefined ? -1 : others.findIndex((stack) => stack.key === before)
  return others.toSpliced(at === -1 ? others.length : at, 0, ...moved).map(lineOf)
}

interface StacksInput {
  board: Board
  store: RecordStore
  by: StackBy
  options: KanbanOptions
  people: readonly Person[]
  numbers: BoardNumbers | null
}

/** The stacks of a board, and those of them that it shows. */
export function useStacks({ board, store, by, options, people, numbers }: StacksInput) {
  // A card that has just come in fills a stack before the server has counted.
  const filled = useSyncExternalStore(
    store.source.subscribe,
    useCallback(() => filledKeys(board), [board]),
  )
  const stacks = useMemo(() => {
    const known = numbers && withFilled(numbers.stacks, JSON.parse(filled) as StackKey[])
    return stacksOf({ by, options, people, numbers: known })
  }, [by, options, people, numbers, filled])
  const shown = useMemo(() => shownStacks(stacks, options.hideEmpty), [stacks, options.hideEmpty])
  useEffect(() => board.setOrder(shown.map(({ key }) => key)), [board, shown])
  return { stacks, shown }
}

const filledKeys = ({ lanes }: Board): string =>
  JSON.stringify(lanes.all().flatMap((lane) => ((lane.count ?? lane.segments.end) > 0 ? [lane.key] : [])))

/** The numbers of stacks, with whether they hold any card as it is at this moment. */
function withFilled(
  numbers: ReadonlyMap<StackKey, StackNumbers>,
  filled: readonly StackKey[],
): ReadonlyMap<StackKey, StackNumbers> {
  const all = new Map<StackKey, StackNumbers>()
  for (const [key, { count, summary }] of numbers)
    all.set(key, { count: filled.includes(key) ? Math.max(1, count) : 0, summary })
  for (const key of filled) if (!all.has(key)) all.set(key, { count: 1, summary: null })
  return all
}
