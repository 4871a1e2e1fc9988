import {
  passwordHeader,
  SHARE_HEADERS,
  SHARE_PASSWORD_HEADER,
  type ShareKind,
} from '../../src/core/share-headers.ts'

/** The public link of the current page, and the password that the visitor entered. */
interface VisitorLink {
  kind: ShareKind
  id: string
  password: string | null
}

/** Path of the public page; see `static-files.ts`. */
export const SHARED_PAGE = '/shared'

/**
 * True on the page of shared links. It ignores any session, so everyone is a visitor there, and other sites may frame
 * it.
 */
export const isVisitorPage = typeof location !== 'undefined' && location.pathname === SHARED_PAGE

let link: VisitorLink | null = null

/** The link of this page. */
export const visitor = {
  link: (): VisitorLink | null => link,
  enter(next: VisitorLink | null): void {
    link = next
  },
  /** Headers sent instead of a token; null outside visitor pages. */
  headers(): Record<string, string> | null {
    if (link === null) return null
    return {
      [SHARE_HEADERS[link.kind]]: link.id,
      ...(link.password === null ? {} : { [SHARE_PASSWORD_HEADER]: passwordHeader(link.password) }),
    }
  },
}
