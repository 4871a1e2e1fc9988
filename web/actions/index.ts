import { useEffect, useRef } from 'react'
import { changePassword, editProfile, openTokens, signOutAction } from './account.ts'
import type { Action, ActionContext } from './action.ts'
import { apiDocsAction, createBaseAction, editBaseAction, goToBases, openTrashAction } from './bases.ts'
import { openPalette, openRecentViews, showShortcuts, toggleSidebar } from './shell.tsx'
import {
  createTableAction,
  duplicateTableAction,
  historyAction,
  importAction,
  relationsAction,
  trashAction,
} from './tables.ts'
import { createViewActions, shareAction } from './views.ts'

/** What can be done from every screen. */
const APP_ACTIONS: readonly Action[] = [
  openPalette,
  openRecentViews,
  createTableAction,
  duplicateTableAction,
  ...createViewActions,
  shareAction,
  importAction,
  relationsAction,
  createBaseAction,
  goToBases,
  editBaseAction,
  apiDocsAction,
  trashAction,
  historyAction,
  openTrashAction,
  toggleSidebar,
  showShortcuts,
  editProfile,
  changePassword,
  openTokens,
  signOutAction,
]

/** What the screen in front adds; the one mounted last comes first. */
let screenActions: { current: readonly Action[] }[] = []

/** All actions that make sense here and now, those of the present screen first. */
export const actionsFor = (context: ActionContext): Action[] =>
  [...screenActions.flatMap(({ current }) => current), ...APP_ACTIONS].filter(
    (action) => action.when?.(context) ?? true,
  )

/** Offers a screen's own actions in the palette, the key map and the shortcut sheet while it is mounted. */
export function useScreenActions(actions: readonly Action[]): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    screenActions = [latest, ...screenActions]
    return () => {
      screenActions = screenActions.filter((one) => one !== latest)
    }
  }, [])
}

/** Keys that a screen handles itself, e.g. the grid's arrows, as the shortcut sheet lists them. */
export interface ShortcutSection {
  title: () => string
  lines: { keys: string[]; label: () => string }[]
}

let sections: ShortcutSection[] = []

/** Sections of the screens that are mounted. */
export const shortcutSections = (): readonly ShortcutSection[] => sections

/** Adds a section to the shortcut sheet while the screen is mounted. */
export function useShortcutSection(section: ShortcutSection): void {
  useEffect(() => {
    sections = [...sections, section]
    return () => {
      sections = sections.filter((one) => one !== section)
    }
  }, [section])
}
