import type { Sort } from '../../src/core/model.ts'
import { type ShareSettings, shareSettings } from '../../src/core/shares.ts'
import { viewKind } from '../../src/core/views/index.ts'
import type { ShareRow } from '../auth/index.ts'
import type { TableModel } from '../schema/index.ts'
import { type LineRow, liveGroups, liveOptions, type ViewRow } from './model.ts'

/** The public link of a view. */
export interface ViewShare {
  id: string
  /** The password itself is kept as a hash. Always false for visitors, who are not told of it. */
  hasPassword: boolean
  settings: ShareSettings
}

/** A view with what depends on its table: options and groups of live fields only. */
export interface ShownView {
  model: TableModel
  row: ViewRow
  /** The options of its kind, with every key. */
  options: object
  groups: Sort[]
  /** Null for a view that is not shared, and for visitors of a shared base. */
  share: ViewShare | null
}

/** A view with a line for each field that it can show, in their order. */
export interface ViewWithLines {
  shown: ShownView
  lines: LineRow[]
}

/** A stored link as a part of its view. */
export const viewShare = ({
  id,
  passwordHash,
  settings,
}: Pick<ShareRow, 'id' | 'passwordHash' | 'settings'>): ViewShare => ({
  id,
  hasPassword: passwordHash !== null,
  settings: shareSettings.parse(settings),
})

export const shownView = (model: TableModel, row: ViewRow, share: ViewShare | null = null): ShownView => ({
  model,
  row,
  share,
  options: liveOptions(model, row),
  groups: liveGroups(model, row),
})

/** The view without its public link and without the options for members, such as addresses that answers are mailed to. */
export const forVisitors = (shown: ShownView): ShownView => ({
  ...shown,
  share: null,
  options: viewKind(shown.row.kind).publicOptions?.(shown.options) ?? shown.options,
})
