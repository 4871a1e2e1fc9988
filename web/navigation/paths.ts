import { createHashHistory } from '@tanstack/history'
import { SHARED_PAGE, visitor } from '../session/visitor.ts'

/** The browser's history, with the route after `#` (spec §2). */
export const appHistory = createHashHistory()

/** The query of the address as plain texts; routes ignore parameters that they do not know. */
export interface RouteSearch {
  rowId?: string
  baseId?: string
  tableId?: string
  hookId?: string
  tab?: string
  by?: string
  kind?: string
  from?: string
  to?: string
  base?: string
  continueAfterSignIn?: string
  logout?: string
}

/** The workspace part of every route while there is one workspace. */
const WORKSPACE = 'nc'

/** Path prefix of a base and its tables; for visitors, that of the public link. */
function baseRoot(baseId: string): string {
  const link = visitor.link()
  return link?.kind === 'base' ? `/base/base/${link.id}` : `/${WORKSPACE}/${baseId}`
}

/** Builds the path of each route, such as `/nc/p123`; `hrefOf` makes a link of it. */
export const paths = {
  bases: () => '/',
  base: baseRoot,
  table: (baseId: string, tableId: string, viewId?: string) =>
    `${baseRoot(baseId)}/${tableId}${viewId ? `/${viewId}` : ''}`,
  members: (baseId: string) => `/${WORKSPACE}/${baseId}/auth`,
  /** The change history of a base. */
  history: (baseId: string, filter: RouteSearch = {}) => `/${WORKSPACE}/${baseId}/history${queryOf(filter)}`,
  /** The open comments of a base. */
  comments: (baseId: string) => `/${WORKSPACE}/${baseId}/comments`,
  /** The webhooks of a base or table; with one of them open, or its deliveries. */
  webhooks: (baseId: string, search: { tableId?: string; hookId?: string; tab?: 'deliveries' } = {}) =>
    `/${WORKSPACE}/${baseId}/webhooks${queryOf(search)}`,
  /** The trash of a base; null: of all bases, with deleted bases. */
  trash: (baseId: string | null, filter: RouteSearch = {}) =>
    `${baseId === null ? '' : `/${WORKSPACE}/${baseId}`}/trash${queryOf(filter)}`,
  sources: (baseId: string) => `/${WORKSPACE}/${baseId}?tab=sources`,
  storage: (baseId: string) => `/${WORKSPACE}/${baseId}?tab=storage`,
  /** Path of a base's diagram, optionally restricted to a table and its links. */
  relations: (baseId: string, tableId?: string) => `/${WORKSPACE}/${baseId}/erd${queryOf({ tableId })}`,
  /** Settings of one's notifications, opened at those of a base. */
  notifications: (baseId?: string) => `/account/notifications${queryOf({ baseId })}`,
  account: (page: AccountPage = 'profile') => `/account/${page}`,
  signIn: (continueTo?: string) => `/signin${continueQuery(continueTo)}`,
  signUp: (continueTo?: string) => `/signup${continueQuery(continueTo)}`,
  acceptInvite: (token: string) => `/signup/${encodeURIComponent(token)}`,
  forgotPassword: () => '/forgot-password',
  // Public pages (spec §2).
  sharedView: (shareId: string) => `/${WORKSPACE}/view/${shareId}`,
  sharedForm: (shareId: string, { survey = false } = {}) =>
    `/${WORKSPACE}/form/${shareId}${survey ? '/survey' : ''}`,
  sharedBase: (shareId: string) => `/base/base/${shareId}`,
  sharedDiagram: (shareId: string) => `/ERD/shared/${shareId}`,
  copySharedBase: (shareId: string) => `/copy-shared-base?base=${encodeURIComponent(shareId)}`,
}

export type AccountPage =
  | 'profile'
  | 'password'
  | 'tokens'
  | 'notifications'
  | 'users'
  | 'settings'
  | 'setup'
  | 'storage'
  | 'backups'
  | 'audit'

/** `?name=value` of the parameters that are set. */
function queryOf(search: RouteSearch): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given).toString()
  return query && `?${query}`
}

const continueQuery = (path?: string) => (path ? `?continueAfterSignIn=${encodeURIComponent(path)}` : '')

/** For `<a href>`: opens in a new tab, can be copied, works without a click handler. */
export const hrefOf = (path: string): string => `#${path}`

/** Navigates to a path; `replace` replaces the current history entry. */
export function goTo(path: string, { replace = false } = {}): void {
  if (replace) appHistory.replace(path)
  else appHistory.push(path)
}

/** The present path with its query, e.g. `/nc/p123/m456?rowId=7`. */
export const currentPath = (): string => appHistory.location.href

/** The full address of a path, to copy: `https://host/#/nc/p123`. */
export const addressOf = (path: string): string => `${location.origin}${location.pathname}#${path}`

/** Full URL of a path on the public page, for sharing or embedding. */
export const sharedAddress = (path: string): string => `${location.origin}${SHARED_PAGE}#${path}`

/**
 * Absolute URL of a form's public page, to share or embed: `https://host/form#/nc/form/…`. A separate page that
 * loads no code of the app.
 */
export const formAddress = (linkId: string, { survey = false } = {}): string =>
  `${location.origin}/form#${paths.sharedForm(encodeURIComponent(linkId), { survey })}`

/** Sets or removes (null) one query parameter of the present path, e.g. `rowId`. */
export function setQuery(name: string, value: string | null, { replace = false } = {}): void {
  const { pathname, search } = appHistory.location
  const query = new URLSearchParams(search)
  if (value === null) query.delete(name)
  else query.set(name, value)
  const text = query.toString()
  goTo(pathname + (text ? `?${text}` : ''), { replace })
}
