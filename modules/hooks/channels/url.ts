import { z } from 'zod'
import { badRequest } from '../../../src/core/errors.ts'
import { looksLikeJson, type TemplateKind } from '../../../src/core/templates/template.ts'
import { HTTP_METHODS, headerProblem } from '../../../src/http.ts'
import { plainText } from '../../../src/input.ts'
import { defineChannel } from './channel.ts'

const MAX_PAIRS = 100
const MAX_VALUE = 4_000
const MAX_URL = 2_083 // spec §5

/** A header or a parameter. Clients leave an empty row at the end of their lists. */
const Pair = z.object({
  name: plainText(256).nullish(),
  value: plainText(MAX_VALUE).nullish(),
  enabled: z.boolean().nullish(),
})
const pairs = z.array(Pair).max(MAX_PAIRS).nullish()

const method = z
  .string()
  .max(10)
  .transform((text) => text.toUpperCase())
  .pipe(z.enum(HTTP_METHODS))

type Pair = z.output<typeof Pair>

const active = (list: Pair[] | null | undefined): { name: string; value: string; at: number }[] =>
  (list ?? []).flatMap(({ name, value, enabled }, at) =>
    name && enabled !== false ? [{ name: name.trim(), value: value ?? '', at }] : [],
  )

/** The kind of the body, by its content type: text that is not JSON is sent as one JSON string (wire §11). */
function bodyKind(contentType: string, body: string): TemplateKind {
  if (/json/i.test(contentType)) return looksLikeJson(body) ? 'json' : 'text'
  if (/x-www-form-urlencoded/i.test(contentType)) return 'urlencoded'
  return /xml|html/i.test(contentType) ? 'markup' : 'text'
}

const JSON_TYPE = 'application/json'
/** The body without a template. */
const WHOLE_EVENT = '{{ json event }}'
const SECRET_NAME = /auth|cookie|key|passw|secret|signature|token/i

/** Calls an address. */
export const url = defineChannel({
  type: 'URL',
  payload: z.object({
    method: method.default('POST'),
    path: plainText(MAX_URL),
    body: plainText(50_000).nullish(),
    headers: pairs,
    parameters: pairs,
    /** Stored for clients that send it. */
    auth: plainText(MAX_VALUE).nullish(),
  }),
  isSigned: true,

  templates: ({ path, body, headers, parameters }) => [
    { path: 'path', text: path.trim(), kind: 'url' },
    { path: 'body', text: body || WHOLE_EVENT, kind: bodyKind(contentTypeOf(headers), body || WHOLE_EVENT) },
    ...active(headers).map(({ value, at }) => ({
      path: `headers.${at}.value`,
      text: value,
      kind: 'header' as const,
    })),
    ...active(parameters).map(({ value, at }) => ({
      path: `parameters.${at}.value`,
      text: value,
      kind: 'text' as const,
    })),
  ],

  check({ headers }) {
    for (const { name, value } of active(headers)) {
      const problem = headerProblem(name, value.includes('{{') ? '' : asLatin1(value))
      if (problem !== null) throw badRequest(problem)
    }
  },

  secrets: ({ path, headers, parameters }) =>
    [...active(headers), ...active(parameters), ...parametersIn(path)]
      .filter(({ name, value }) => value !== '' && SECRET_NAME.test(name))
      .map(({ value }) => value),

  compose({ method, path, body, headers, parameters }, render) {
    const address = render(path.trim(), 'url')
    const query = active(parameters).map(
      ({ name, value }) =>
        `${encodeURIComponent(name)}=${encodeURIComponent(render(value, 'text').toWellFormed())}`,
    )
    const given = active(headers).map(({ name, value }): [string, string] => [
      name,
      asLatin1(render(value, 'header').trim()),
    ])
    const contentType = contentTypeOf(headers)
    const text = render(body || WHOLE_EVENT, bodyKind(contentType, body || WHOLE_EVENT))
    const hasType = given.some(([name]) => name.toLowerCase() === 'content-type')
    return {
      kind: 'http',
      method,
      url: withQuery(address, query),
      headers: hasType ? given : [['Content-Type', JSON_TYPE], ...given],
      body: /json/i.test(contentType) && !isJson(text) ? JSON.stringify(text) : text,
    }
  },
})

function contentTypeOf(headers: Pair[] | null | undefined): string {
  const own = active(headers).find(({ name }) => name.toLowerCase() === 'content-type')
  return own && own.value !== '' ? own.value : JSON_TYPE
}

/** The parameters of the address itself, as they are written. */
function parametersIn(path: string): { name: string; value: string }[] {
  const [place = ''] = path.split('#', 1)
  const [, ...query] = place.split('?')
  return query
    .join('?')
    .split('&')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return { name, value: value.join('=') }
    })
}

/** Adds parameters after those of the address, in front of its fragment. */
function withQuery(address: string, query: readonly string[]): string {
  if (query.length === 0) return address
  const [place = '', fragment] = address.split('#', 2)
  const joint = !place.includes('?') ? '?' : /[?&]$/.test(place) ? '' : '&'
  return `${place}${joint}${query.join('&')}${fragment === undefined ? '' : `#${fragment}`}`
}

/** A header value whose bytes are UTF-8: headers are sent as Latin-1. */
const asLatin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
