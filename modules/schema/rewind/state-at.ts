/** A change of something's settings in the log. */
export interface Step<S> {
  /** The entry of the log. */
  id: number
  /** The settings right before and after it; absent where the log only has what changed. */
  known?: { before: S; after: S }
  forward(state: S): S
  backward(state: S): S
}

/**
 * The settings as they were right after an entry of the log: from the nearest step around it that knows them.
 *
 * @param steps oldest first
 * @param now the settings after the last step
 */
export function stateAt<S>(steps: readonly Step<S>[], after: number, now: S): S {
  const first = steps.findIndex(({ id }) => id > after)
  if (first === -1) return now
  const next = steps[first]
  if (next?.known) return next.known.before
  const earlier = steps.findLastIndex(({ known }, index) => known !== undefined && index < first)
  const start = steps[earlier]?.known
  if (start) return steps.slice(earlier + 1, first).reduce<S>((each, step) => step.forward(each), start.after)
  const later = steps.findIndex(({ known }, index) => known !== undefined && index > first)
  const end = steps[later]?.known
  return steps
    .slice(first, later === -1 ? undefined : later)
    .reduceRight<S>((each, step) => step.backward(each), end ? end.before : now)
}

/** The step of a change with its settings before and after, or of an undo or redo of one. */
export function stepOf<S>(
  id: number,
  direction: 'do' | 'undo' | 'redo',
  { before, after }: { before: S; after: S },
  restore: (current: S, from: S, to: S) => S,
): Step<S> {
  const [from, to] = direction === 'undo' ? [after, before] : [before, after]
  return {
    id,
    ...(direction === 'do' && { known: { before, after } }),
    forward: (state) => restore(state, from, to),
    backward: (state) => restore(state, to, from),
  }
}

/** True if a change, or its undo or redo, makes something appear that it concerns; false if it makes it disappear. */
export const makesAppear = (kind: string, direction: 'do' | 'undo' | 'redo'): boolean =>
  kind.endsWith('.delete') === (direction === 'undo')

const EXISTENCE = ['create', 'delete', 'restore']

/** True for changes that create, delete or restore something. */
export const isOfExistence = (kind: string): boolean => EXISTENCE.includes(kind.split('.')[1] ?? '')
