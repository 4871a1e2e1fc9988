import { z } from 'zod'
import { badRequest } from '../../../../src/core/errors.ts'
import { isEmail } from '../../../../src/core/fields/checked-text.ts'
import { type FormField, type FormOptions, formField, formOptions } from '../../../../src/core/views/index.ts'
import { wireFlag } from '../../../../src/wire/body-values.ts'
import { readBody } from '../../../../src/wire/rest-base.ts'
import { kindChange, type MetaKeys, metaOf, present, takeMeta, type WireKind, wireMeta } from './wire-kind.ts'

const RICH_TEXT = 20_000
const text = (max: number) => z.string().max(max).nullish()

/** An image: the path of an upload, or an attachment as attachment cells hold it, also as JSON text. */
const picture = z.union([z.string().max(5000), z.looseObject({ path: z.string().max(500) })]).nullish()

const FormBody = z.object({
  heading: text(500),
  subheading: text(RICH_TEXT),
  success_msg: text(RICH_TEXT),
  redirect_url: text(2083),
  redirect_after_secs: z.union([z.number(), z.string().max(20)]).nullish(),
  email: z.union([z.string().max(2000), z.record(z.string().max(320), z.boolean())]).nullish(),
  submit_another_form: wireFlag.nullish(),
  show_blank_form: wireFlag.nullish(),
  banner_image_url: picture,
  logo_url: picture,
  meta: wireMeta.nullish(),
})

/** Form options that REST clients have no key for; they travel in `meta`. */
const META: MetaKeys = {
  hide_branding: 'hideBranding',
  hide_banner: 'hideBanner',
  background_color: 'backgroundColor',
  submit_label: 'submitLabel',
  closes_at: 'closesAt',
  max_answers: 'maxAnswers',
  one_per_person: 'onePerPerson',
}

/** Settings of a form field that travel in `meta`. */
const FIELD_META: MetaKeys = {
  layout: 'layout',
  limitOptions: 'limitOptions',
  rules: 'rules',
  showIf: 'showIf',
  defaultValue: 'defaultValue',
}

export const form: WireKind = {
  kind: 'form',
  path: 'forms',
  present({ options: stored, row }) {
    const options = stored as FormOptions
    return {
      heading: options.heading ?? row.title,
      subheading: options.subheading,
      success_msg: options.successMessage,
      redirect_url: options.redirectUrl,
      redirect_after_secs: String(options.redirectAfterSeconds),
      email: options.emailTo,
      submit_another_form: options.submitAnother,
      show_blank_form: options.showBlankForm,
      banner_image_url: options.bannerPath,
      logo_url: options.logoPath,
      meta: { ...row.meta, ...metaOf(options, META, formOptions.parse({})) },
    }
  },
  read(json, { options: before, title }) {
    const body = readBody(FormBody, json)
    const { options, rest } = takeMeta(body.meta, META)
    // A form without a heading shows its title, which clients send back.
    const isTitle = (before as FormOptions).heading === null && body.heading === title
    const named = present({
      heading: isTitle ? undefined : emptyAsNull(body.heading),
      subheading: emptyAsNull(body.subheading),
      successMessage: emptyAsNull(body.success_msg),
      redirectUrl: emptyAsNull(body.redirect_url),
      redirectAfterSeconds: secondsOf(body.redirect_after_secs),
      emailTo: addressesOf(body.email),
      submitAnother: body.submit_another_form ?? undefined,
      showBlankForm: body.show_blank_form ?? undefined,
      bannerPath: pathOf(body.banner_image_url),
      logoPath: pathOf(body.logo_url),
    })
    return kindChange({ ...options, ...named }, body.meta == null ? undefined : rest)
  },
  presentColumn(_, { form: stored }) {
    const defaults = formField.parse({})
    const field = stored ?? defaults
    return {
      label: field.label,
      help: field.help,
      description: field.help,
      required: field.required,
      meta: { ...field.meta, ...metaOf(field, FIELD_META, defaults) },
      enable_scanner: field.enableScanner,
    }
  },
}

const FormFieldBody = z.object({
  label: text(1000),
  help: text(RICH_TEXT),
  description: text(RICH_TEXT),
  required: wireFlag.nullish(),
  enable_scanner: wireFlag.nullish(),
  meta: wireMeta.nullish(),
})

/**
 * The form settings of a field after an update; undefined if the body names none of them. `help` and `description` are
 * two names of one text.
 *
 * @throws INVALID_REQUEST_BODY; BAD_REQUEST for invalid settings in `meta`
 */
export function readFormField(body: unknown, before: FormField | null): FormField | undefined {
  const { label, help, description, required, enable_scanner: scanner, meta } = readBody(FormFieldBody, body)
  const { options, rest } = takeMeta(meta, FIELD_META)
  // A client that sends the whole column back has changed only one of the two names.
  const changedHelp = [description, help]
    .map(emptyAsNull)
    .find((text) => text !== undefined && text !== (before?.help ?? null))
  const change = {
    ...options,
    ...present({
      label: emptyAsNull(label),
      help: changedHelp,
      required: required ?? undefined,
      enableScanner: scanner ?? undefined,
      meta: meta == null ? undefined : rest,
    }),
  }
  if (Object.keys(change).length === 0) return undefined
  const parsed = formField.safeParse({ ...before, ...change })
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw badRequest(`meta.${issue?.path.join('.')}: ${issue?.message ?? 'is not understood'}`)
}

const emptyAsNull = (value: string | null | undefined): string | null | undefined =>
  value === '' ? null : value

/** Reads a number of seconds. @throws BAD_REQUEST if it is not whole; its range is checked with the other options */
function secondsOf(value: string | number | null | undefined): number | undefined {
  if (value == null || value === '') return undefined
  const seconds = Number(value)
  if (!Number.isInteger(seconds)) throw badRequest(`'${value}' is not a number of seconds`)
  return seconds
}

/**
 * Comma-separated addresses. Older clients send an object, or its JSON text, with true for each address.
 *
 * @throws BAD_REQUEST for an invalid address
 */
function addressesOf(sent: string | Record<string, boolean> | null | undefined): string | null | undefined {
  if (sent == null) return sent
  const list = typeof sent === 'string' ? (parseObject(sent) ?? sent) : sent
  const addresses =
    typeof list === 'string'
      ? list.split(',').map((address) => address.trim())
      : Object.keys(list).filter((address) => list[address])
  const nonEmpty = addresses.filter((address) => address !== '')
  const invalid = nonEmpty.find((address) => !isEmail(address))
  if (invalid !== undefined) throw badRequest(`'${invalid.slice(0, 100)}' is not an email address`)
  return nonEmpty.length === 0 ? null : nonEmpty.join(',')
}

/** @throws BAD_REQUEST for JSON text without a path */
function pathOf(sent: string | { path: string } | null | undefined): string | null | undefined {
  if (sent == null || sent === '') return sent === '' ? null : sent
  if (typeof sent !== 'string') return sent.path
  const file = parseObject(sent)
  if (file === null) return sent
  if (typeof file.path !== 'string') throw badRequest('An image must be given by its path')
  return file.path
}

/** The object that a JSON text holds; null for any other text. */
function parseObject(value: string): Record<string, unknown> | null {
  if (!value.trim().startsWith('{')) return null
  const parsed = wireMeta.safeParse(value)
  return parsed.success ? parsed.data : null
}
