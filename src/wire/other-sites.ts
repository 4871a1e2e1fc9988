import type { Config } from '../config.ts'
import { SHARE_HEADERS } from '../core/shares.ts'
import { json } from './answer.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Bodies that a page of any site may send without asking this server first (Fetch standard, CORS-safelisted). */
const FORM_TYPES = /^(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(?:;|$)/i

/** Headers that forms cannot send and that pages of other sites may not add, because CORS allows none. */
const OWN_HEADERS = ['xc-auth', 'xc-token', 'authorization', ...Object.values(SHARE_HEADERS)]

/** Answers to public forms: anybody may send them, and no session is looked at. */
const PUBLIC_ANSWERS = /^\/api\/v[12]\/(?:db\/)?public\/shared-view\/[^/]+\/rows$/

/**
 * The refusal of a form that a page of another site sends: it would sign the browser in as somebody else, or change
 * something with the browser's cookie. Null for all other requests; programs tell neither site nor origin.
 */
export function refuseOtherSites(request: Request, config: Pick<Config, 'publicUrl'>): Response | null {
  const { headers, method } = request
  if (SAFE_METHODS.has(method) || !isOtherSite(request, config)) return null
  const type = headers.get('content-type')
  // Anything else a browser sends only after asking, which this server answers no other site.
  if (type !== null && !FORM_TYPES.test(type)) return null
  if (OWN_HEADERS.some((name) => headers.has(name))) return null
  if (PUBLIC_ANSWERS.test(new URL(request.url).pathname)) return null
  return json({ msg: 'Forms of other sites are not accepted here' }, 403)
}

/** True where the browser says so; by the origin where it is too old, or the connection too open, to say it. */
function isOtherSite(request: Request, { publicUrl }: Pick<Config, 'publicUrl'>): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'cross-site' || site === 'same-site'
  const origin = request.headers.get('origin')
  if (origin === null) return false
  if (!URL.canParse(origin)) return true
  const own = [request.headers.get('host'), publicUrl === null ? null : new URL(publicUrl).host]
  return !own.includes(new URL(origin).host)
}
