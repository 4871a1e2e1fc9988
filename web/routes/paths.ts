import { createHashHistory } from '@tanstack/react-router'

/** The browser's history, with the route behind the `#` (spec §2). */
export const appHistory = createHashHistory()

/** The workspace part of every route while there is one workspace. */
const WORKSPACE = 'nc'

/** The routes by name. All answers are paths of ours such as `/nc/p123`; `hrefOf` makes links of them. */
export const paths = {
  bases: () => '/',
  base: (baseId: string) => `/${WORKSPACE}/${baseId}`,
  table: (baseId: string, tableId: string, viewId?: string) =>
    `/${WORKSPACE}/${baseId}/${tableId}${viewId ? `/${viewId}` : ''}`,
  account: (page: AccountPage = 'profile') => `/account/${page}`,
  signIn: (continueTo?: string) => `/signin${continueQuery(continueTo)}`,
  signUp: (continueTo?: string) => `/signup${continueQuery(continueTo)}`,
  forgotPassword: () => '/forgot-password',
}

export type AccountPage = 'profile' | 'password' | 'tokens'

const continueQuery = (path?: string) => (path ? `?continueAfterSignIn=${encodeURIComponent(path)}` : '')

/** For `<a href>`: opens in a new tab, can be copied, works without a click handler. */
export const hrefOf = (path: string): string => `#${path}`

/** Goes to one of our paths; `replace` leaves no step back to the present one. */
export function goTo(path: string, { replace = false } = {}): void {
  if (replace) appHistory.replace(path)
  else appHistory.push(path)
}

/** The present path with its query, e.g. `/nc/p123/m456?rowId=7`. */
export const currentPath = (): string => appHistory.location.href

/** The full address of a path, to copy: `https://host/#/nc/p123`. */
export const addressOf = (path: string): string => `${location.origin}${location.pathname}#${path}`

/** Sets or removes (null) one query parameter of the present path, e.g. `rowId`. */
export function setQuery(name: string, value: string | null, { replace = false } = {}): void {
  const { pathname, search } = appHistory.location
  const query = new URLSearchParams(search)
  if (value === null) query.delete(name)
  else query.set(name, value)
  const text = query.toString()
  goTo(pathname + (text ? `?${text}` : ''), { replace })
}
