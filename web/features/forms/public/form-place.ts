import { decodeUri } from '../../../../src/core/decode-uri.ts'
/** The form that a URL refers to, and how to show it. */
export interface FormPlace {
  /** The share's id from the link. */
  linkId: string
  /** One question at a time. */
  isSurvey: boolean
  /** Query parameters with prefilled answers. */
  query: URLSearchParams
}

/**
 * Parses `#/nc/form/{id}` and `#/nc/form/{id}/survey`, also with a workspace id instead of `nc`; null for
 * other URLs. Query parameters may come before the `#` or after the path.
 */
export function readFormPlace({ hash, search }: Pick<Location, 'hash' | 'search'>): FormPlace | null {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  const [, linkId = '', survey] = /^\/[^/]+\/form\/([^/]+?)(?:\/(survey))?\/?$/.exec(path) ?? []
  if (linkId === '') return null
  const all = new URLSearchParams(search)
  for (const [name, value] of new URLSearchParams(query)) all.append(name, value)
  return { linkId: decodeUri(linkId), isSurvey: survey !== undefined, query: all }
}
