import type { ShareActor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import { cellText } from '../../../src/core/fields/cell-text.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { readLinkIds } from '../../../src/core/fields/list-value.ts'
import { holdsFiles } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId, View } from '../../../src/core/model.ts'
import type { AnswerProblem } from '../../../src/core/views/form-answers.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { LinkReads } from '../links/index.ts'
import type { Opened, Reader } from '../read/index.ts'
import { storedId } from '../table/index.ts'
import type { Door } from './door.ts'

/** A form opened by a public link, with its questions. */
export interface SharedForm extends Opened {
  view: View
}

interface Deps {
  reader: Pick<Reader, 'openForm' | 'countOpened' | 'page'>
  links: Pick<LinkReads, 'openLinked'>
  door: Pick<Door, 'applyGranted'>
  views: Pick<ViewsService, 'load'>
}

/** Writes the answers to shared forms. A link to a form permits this write and nothing else. */
export function createFormDoor({ reader, links, door, views }: Deps) {
  return {
    /** @throws VIEW_NOT_FOUND; FORBIDDEN by a link to anything but a form */
    async open(actor: ShareActor): Promise<SharedForm> {
      const viewId = actor.grant.kind === 'view' ? actor.grant.viewId : ''
      if (viewId === '') throw notFound('View', '')
      const { tableId } = await views.load(viewId)
      return reader.openForm(actor, tableId)
    },

    /** Checks the links of an answer: a form accepts only the records that its picker offers. */
    async linkProblems(
      actor: ShareActor,
      { model }: SharedForm,
      values: Record<string, CellValue>,
    ): Promise<AnswerProblem[]> {
      const problems: AnswerProblem[] = []
      const tableId = model.table.id
      for (const [fieldId, value] of Object.entries(values)) {
        const field = model.field(fieldId)
        if (!field || linkOf(field) === null) continue
        const given = readLinkIds(value) ?? []
        if (given.length === 0) continue
        const opened = await links.openLinked(actor, { tableId, fieldId, recordId: null }, 'linkable')
        const ids = [...new Set(given.map((id) => storedId(opened.model, id)))]
        const found = await reader.countOpened(opened, { recordIds: ids })
        if (found < ids.length) problems.push({ fieldId, message: m.records_error_not_offered() })
      }
      return problems
    },

    /**
     * Adds a checked answer as a record without an author.
     *
     * @param timeZone for defaults with the current date
     * @throws INVALID_VALUE_FOR_FIELD with the problem of a question, such as a duplicate in a unique field;
     *   BAD_REQUEST where it concerns a field that is not in the form
     */
    async add(
      actor: ShareActor,
      { model }: SharedForm,
      values: Record<string, CellValue>,
      timeZone?: string,
    ): Promise<RecordId> {
      const { baseId, id: tableId } = model.table
      const operations = [{ kind: 'insert' as const, tableId, rows: [{ values }] }]
      const written = await door.applyGranted(actor, { baseId, operations, timeZone }).catch((error) => {
        throw error instanceof AppError ? publicRefusal(model, error) : error
      })
      const [recordId] = written.inserted
      if (recordId === undefined) throw new Error(`An answer to table ${tableId} was not kept`)
      return recordId
    },

    /** An answer as text, one for each field; links and files by name, empty text for no answer. */
    async read(form: SharedForm, recordId: RecordId, fields: Field[], timeZone: string): Promise<string[]> {
      const query = { tableId: form.model.table.id, recordIds: [recordId], limit: 1, offset: 0 }
      const { rows } = await reader.page(form, query, fields)
      const people = form.context.moment.people ?? []
      return fields.map((field, at) => {
        const value = rows[0]?.[at] ?? null
        return holdsFiles(field)
          ? readAttachments(value)
              .map(({ title }) => title)
              .join(', ')
          : cellText(field, value, { people, timeZone })
      })
    },
  }
}

/** The error for visitors, who see only the form: reveals nothing of other fields. */
function publicRefusal(model: TableModel, { message, details }: AppError): AppError {
  const fieldId = details?.fieldId
  if (typeof fieldId !== 'string' || !model.field(fieldId)) {
    return badRequest(m.records_error_response_incomplete())
  }
  const problem: AnswerProblem = { fieldId, message }
  return new AppError('INVALID_VALUE_FOR_FIELD', message, { problems: [problem] })
}
