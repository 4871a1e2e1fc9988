import type { View } from '../model.ts'
import { collectsAnswers } from './index.ts'

/** The settings of a view that editors change. */
const ARRANGING: ReadonlySet<string> = new Set([
  'rowHeight',
  'frozen',
  'filter',
  'sorts',
  'groups',
  'coloring',
])

/**
 * The right that a change of one setting of a view needs (spec §6). Editors arrange records and lay out forms; the
 * options of other kinds, such as the stacks of a kanban, are creators' as well as the rest.
 */
export function rightOfSetting(view: Pick<View, 'kind'>, key: string): 'view.arrange' | 'view.update' {
  const isArranging = key === 'options' ? collectsAnswers(view) : ARRANGING.has(key)
  return isArranging ? 'view.arrange' : 'view.update'
}
