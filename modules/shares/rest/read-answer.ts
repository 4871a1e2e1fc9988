import { badRequest } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { parseJsonText } from '../../../src/core/json-text.ts'
import { readMultipart } from '../../../src/multipart.ts'
import { tooLargeForAnonymous } from '../../../src/wire/rest-base.ts'
import type { createRestReads, SharedForm } from '../../records/index.ts'
import type { ReadAnswers } from '../form-answers.ts'

type Operations = Pick<ReturnType<typeof createRestReads>['operations'], 'newLinks'>

/**
 * Reads an answer as REST clients send it (wire reference §17): a multipart body with the row as JSON text in
 * `data` and the files under the titles of their fields, or a JSON body with `data` in it. In a multipart body
 * `values` may stand for `data`: answers by field id, as `shares.submit` takes them.
 *
 * @param maxBytes of the answers in a multipart body, whose files are counted by themselves
 */
export function readAnswer(
  request: Request,
  body: unknown,
  operations: Operations,
  maxBytes: number,
): ReadAnswers {
  const type = request.headers.get('content-type') ?? ''
  return async (form, takeFile) => {
    if (!/^multipart\/form-data\b/i.test(type)) {
      return valuesOf(form, (body as { data?: unknown } | null)?.data, operations)
    }
    let data: unknown
    let values: unknown
    for await (const part of readMultipart(request.body ?? emptyBody(), type)) {
      if (part.fileName === null && part.name === 'data') data = await readText(part.body, maxBytes)
      // As our own page sends them: by the ids of fields, and links by those of records.
      else if (part.fileName === null && part.name === 'values')
        values = parse(await readText(part.body, maxBytes))
      else if (part.fileName) await takeFile({ name: part.name, fileName: part.fileName, body: part.body })
    }
    return isRecord(values) ? values : valuesOf(form, data, operations)
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Answers by field id. Keys that the form does not ask for are left out. @throws 400 for what is no object */
async function valuesOf(
  form: SharedForm,
  sent: unknown,
  operations: Operations,
): Promise<Record<string, unknown>> {
  const data = typeof sent === 'string' ? parse(sent) : sent
  if (data === undefined || data === null) throw badRequest('Cannot convert undefined or null to object')
  if (typeof data !== 'object' || Array.isArray(data)) throw badRequest('`data` must be an object')
  const row = data as Record<string, unknown>
  const values: Record<string, unknown> = {}
  for (const field of form.model.fields) {
    if (linkOf(field) === null && Object.hasOwn(row, field.title)) values[field.id] = row[field.title]
  }
  // Links are given as records, `{"Id":2}`.
  const [links = {}] = await operations.newLinks(form.model, [row], { isVisitor: true })
  return { ...values, ...links }
}

function parse(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`\`data\` is not JSON: ${error.message}`)
    throw error
  }
}

async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLargeForAnonymous(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
