import type { Action } from '../../../actions/action.ts'
import { changePassword, editProfile, openTokens, signOutAction } from './account.ts'
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

/** Actions that every screen offers, in the order of the command palette. */
export const APP_ACTIONS: readonly Action[] = [
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
