import * as z from 'zod/mini'

// The parts of Airtable's Web API that imports read (https://airtable.com/developers/web/api). Unknown keys are ignored.

const id = z.string().check(z.minLength(1), z.maxLength(100))
const title = z.string().check(z.maxLength(2000))

export const airtableField = z.object({
  id,
  name: title,
  type: z.string().check(z.maxLength(100)),
  description: z.nullish(z.string()),
  options: z.nullish(z.record(z.string(), z.unknown())),
})
export type AirtableField = z.output<typeof airtableField>

export const airtableView = z.object({
  id,
  name: title,
  type: z.string().check(z.maxLength(100)),
  visibleFieldIds: z.nullish(z.array(id)),
  personalForUserId: z.nullish(z.string()),
})

export const airtableTable = z.object({
  id,
  name: title,
  description: z.nullish(z.string()),
  primaryFieldId: z.nullish(id),
  fields: z.array(airtableField).check(z.maxLength(2000)),
  views: z._default(z.array(airtableView), []),
})
export type AirtableTable = z.output<typeof airtableTable>

export const tablesAnswer = z.object({ tables: z.array(airtableTable).check(z.maxLength(1000)) })

export const basesAnswer = z.object({
  bases: z.array(z.object({ id, name: title })),
  offset: z.nullish(z.string().check(z.maxLength(2000))),
})

export const recordsAnswer = z.object({
  records: z.array(
    z.object({
      id,
      createdTime: z.nullish(z.string()),
      fields: z.record(z.string(), z.unknown()),
      commentCount: z.nullish(z.number()),
    }),
  ),
  offset: z.nullish(z.string().check(z.maxLength(2000))),
})

/** The author of a comment has an `id`, who reacts to it a `userId`. */
export const airtableUser = z.object({
  id: z.nullish(z.string()),
  userId: z.nullish(z.string()),
  email: z.nullish(z.string()),
  name: z.nullish(z.string()),
})

/** The documentation calls the name of a person or group `name`, and its examples of answers call it `displayName`. */
export const airtableMention = z.object({
  displayName: z.nullish(z.string()),
  name: z.nullish(z.string()),
  email: z.nullish(z.string()),
})

export const commentsAnswer = z.object({
  comments: z.array(
    z.object({
      id,
      author: z.nullish(airtableUser),
      text: z.string(),
      createdTime: z.string(),
      /** The comment that it answers. */
      parentCommentId: z.nullish(id),
      reactions: z.nullish(
        z.array(
          z.object({
            emoji: z.nullish(z.object({ unicodeCharacter: z.nullish(z.string()) })),
            reactingUser: z.nullish(airtableUser),
          }),
        ),
      ),
      /** People and groups whom the text mentions as `@[id]`. */
      mentioned: z.nullish(z.record(z.string(), airtableMention)),
    }),
  ),
  offset: z.nullish(z.string().check(z.maxLength(2000))),
})
