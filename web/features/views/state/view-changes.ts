import type { View, ViewKind } from '../../../../src/core/model.ts'
import { type BaseRole, roleCan } from '../../../../src/core/roles.ts'
import { type OptionsByKind, optionsOf } from '../../../../src/core/views/index.ts'
import { rightOfSetting } from '../../../../src/core/views/setting-right.ts'
import { arrangeFields, type FieldArrangement } from './arrange-fields.ts'

/** The settings of a view except its columns. */
export type ViewPatch = Partial<
  Pick<View, 'rowHeight' | 'frozen' | 'filter' | 'sorts' | 'groups' | 'coloring' | 'options'>
>

/** A user's change of a view. */
export type ViewChange =
  | { kind: 'update'; patch: ViewPatch }
  | { kind: 'arrange'; fields: FieldArrangement[] }

/** Applies a change to a view. */
export const applyChange = (view: View, change: ViewChange): View =>
  change.kind === 'update'
    ? { ...view, ...change.patch }
    : { ...view, fields: arrangeFields(view.fields, change.fields) }

/** Merges changes for saving together; later ones win. */
export function mergeChanges(changes: readonly ViewChange[]): {
  patch: ViewPatch
  fields: FieldArrangement[]
} {
  const patch: ViewPatch = {}
  const fields = new Map<string, FieldArrangement>()
  for (const change of changes) {
    if (change.kind === 'update') Object.assign(patch, change.patch)
    else for (const one of change.fields) fields.set(one.fieldId, { ...fields.get(one.fieldId), ...one })
  }
  return { patch, fields: [...fields.values()] }
}

/** Patch keys that the switch "save filters and sorts" controls. */
const FILTERING: ReadonlySet<string> = new Set(['filter', 'sorts', 'groups'] satisfies (keyof ViewPatch)[])

/** True for a change that affects only filter, sorts or groups. */
export const isFiltering = (change: ViewChange): boolean =>
  change.kind === 'update' && Object.keys(change.patch).every((key) => FILTERING.has(key))

/** True if the role may save a change of a view of this kind for everyone. */
export const maySave = (kind: ViewKind, change: ViewChange, role: BaseRole): boolean =>
  change.kind === 'arrange'
    ? roleCan(role, 'view.arrange')
    : Object.keys(change.patch).every((key) => roleCan(role, rightOfSetting({ kind }, key)))

/** Why changes of a view are kept for the visit instead of saved. */
export type KeptBecause = 'role' | 'locked' | 'personal'

/**
 * Why the user's changes of a view are not saved for everyone; null if they are saved.
 *
 * @param canArrange true if the role may change views
 */
export function keptBecause(
  { lock, ownerId }: Pick<View, 'lock' | 'ownerId'>,
  canArrange: boolean,
  userId: string | null,
): KeptBecause | null {
  if (!canArrange) return 'role'
  if (lock === 'locked') return 'locked'
  // A view without an owner blocks nobody's changes.
  return lock === 'personal' && ownerId !== null && ownerId !== userId ? 'personal' : null
}

/** Merges a patch into the options of a view; the API expects all of them. */
export const withOptions = <K extends ViewKind>(
  view: Pick<View, 'kind' | 'options'>,
  kind: K,
  patch: Partial<OptionsByKind[K]>,
): OptionsByKind[K] => ({ ...optionsOf(view, kind), ...patch })
