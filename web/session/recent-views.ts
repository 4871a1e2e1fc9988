import { localSettings, readJsonSetting } from './local-settings.ts'

/** A view that was on the screen, with its names of that time: to offer it takes no request. */
export interface RecentView {
  userId: string
  baseId: string
  tableId: string
  viewId: string
  /** True for the table's default view, whose URL has no view id. */
  isDefault: boolean
  title: string
  tableTitle: string
}

const MAX_RECENT = 30

const isViews = (value: unknown): value is RecentView[] =>
  Array.isArray(value) && value.every((one) => typeof one?.viewId === 'string')

const readAll = (): RecentView[] => readJsonSetting('recentViews', [], isViews)

/** Recently opened views in this browser, latest first. */
export const recentViews = (userId: string): RecentView[] =>
  readAll().filter((view) => view.userId === userId)

/** Records that a view was opened. */
export function noteRecentView(view: RecentView): void {
  const others = readAll().filter(({ viewId, userId }) => viewId !== view.viewId || userId !== view.userId)
  localSettings.set('recentViews', JSON.stringify([view, ...others].slice(0, MAX_RECENT)))
}
