/** Which form an address means, and how it is to be shown. */
export interface FormPlace {
  /** The share's id from the link. */
  linkId: string
  /** One question at a time. */
  isSurvey: boolean
  /** Answers that the address brings. */
  query: URLSearchParams
}

/**
 * Reads `#/nc/form/{id}`, `#/nc/form/{id}/survey` and the same behind the id of a workspace; null for any other
 * place. Answers may stand behind the path or ahead of the `#`.
 */
export function readFormPlace({ hash, search }: Pick<Location, 'hash' | 'search'>): FormPlace | null {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  const [, linkId = '', survey] = /^\/[^/]+\/form\/([^/]+?)(?:\/(survey))?\/?$/.exec(path) ?? []
  if (linkId === '') return null
  const all = new URLSearchParams(search)
  for (const [name, value] of new URLSearchParams(query)) all.append(name, value)
  return { linkId: decoded(linkId), isSurvey: survey !== undefined, query: all }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
