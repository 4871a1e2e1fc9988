import type { OpenedShare } from '../../../../src/core/shares.ts'
import type { FormOptions } from '../../../../src/core/views/form.ts'
import { m } from '../../../messages.gen.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { hasEarlyInput, loadInputs } from '../answers/answer-input.tsx'
import type { FormSource } from '../form-source.ts'
import { savedAnswers } from '../use-form-run.ts'
import type { CompletedForm } from './complete-form.tsx'
import type { FormPlace } from './form-place.ts'
import { type ShareClient, ShareError } from './share-client.ts'

/** A form opened through its public link. */
export interface OpenForm {
  share: OpenedShare
  source: FormSource
  client: ShareClient
}

/** The second script, with the field types and their editors. A failure keeps the page, with what is typed in it. */
const secondScript = () => loadPart(() => import('./complete-form.tsx'), { mayReload: false })

/**
 * Loads a form by its public link. Returns only the share if the form does not accept responses.
 *
 * @throws ShareError with the server's code; `NO_FORM` when the link does not lead to a form
 */
export async function openForm(client: ShareClient, place: FormPlace): Promise<OpenForm | OpenedShare> {
  const share = await client.open()
  const { tableId, definition } = share
  if (share.form === null || tableId === null) {
    throw new ShareError(m.form_link_doesnt_lead_form(), 'NO_FORM')
  }
  if (definition === null) return share
  const { view, options, fields, questions } = definition
  const source: FormSource = {
    // Drafts are stored per prefill query, so that links with other prefilled values start fresh.
    keepAs: [place.linkId, ...place.query].join('?'),
    view,
    options,
    fields,
    questions,
    people: [],
    actorId: null,
    pictures: await readPictures(client, tableId, options),
    linkable: async (...request) => (await secondScript()).readLinkable(client, tableId, ...request),
    submit: async (submission) => (await secondScript()).sendAnswers(client, fields, submission),
  }
  return { share, source, client }
}

/**
 * True for a form that can be filled in before its rules are there: every question is shown, starts empty and has an
 * input without them.
 */
export const startsEarly = ({ source }: OpenForm, { query }: FormPlace): boolean =>
  query.size === 0 &&
  !(source.keepAs !== null && savedAnswers.has(source.keepAs)) &&
  source.questions.every(
    (question) =>
      question.form.showIf === null &&
      (question.form.defaultValue ?? question.field.defaultValue) === null &&
      hasEarlyInput(question),
  )

/** Loads what a form needs besides its first paint. @throws Error when a script cannot be loaded; ShareError */
export async function loadCompletion(
  { client, share, source }: OpenForm,
  { query }: FormPlace,
): Promise<CompletedForm> {
  const { completeForm } = await secondScript()
  await loadInputs(source.questions)
  return completeForm({ client, baseId: share.baseId, source, query })
}

/** Signed URLs of banner and logo. Failures are only logged, as the form works without its pictures. */
async function readPictures(
  client: ShareClient,
  tableId: string,
  { bannerPath, logoPath, hideBanner }: FormOptions,
): Promise<FormSource['pictures']> {
  const banner = hideBanner ? null : bannerPath
  const paths = [banner, logoPath].filter((path) => path !== null)
  if (paths.length === 0) return { banner: null, logo: null }
  try {
    const { files } = await client.signFiles(tableId, paths)
    const urlOf = (path: string | null) => (path === null ? null : (files[path]?.url ?? null))
    return { banner: urlOf(banner), logo: urlOf(logoPath) }
  } catch (error) {
    if (!(error instanceof ShareError)) throw error
    console.warn('the pictures of the form could not be read', error)
    return { banner: null, logo: null }
  }
}
