import { type ZodObject, type ZodType, z } from 'zod'
import type { Schema } from '../core/fields/json-schema.ts'

/** What an OpenAPI document says of an operation beside its summary. */
export interface Description {
  /** Those of the path are known. */
  parameters?: Schema[]
  requestBody?: Schema
  responses?: Record<string, Schema>
}

const DESCRIPTION = 'x-description'

/**
 * Describes a route in its `detail`. The description is built when the document is first requested: deriving schemas
 * would make the server start more slowly.
 */
export const describedBy = (describe: () => Description) => ({ [DESCRIPTION]: describe })

/** An operation of a document with what `describedBy` gives of it. OpenAPI requires `responses`. */
export function completeOperation({ [DESCRIPTION]: describe, ...operation }: Schema): Schema {
  const described = typeof describe === 'function' ? (describe() as Description) : {}
  const parameters = [...((operation.parameters as Schema[]) ?? []), ...(described.parameters ?? [])]
  return {
    responses: { default: { description: 'The answer, or why the request was refused' } },
    ...operation,
    ...described,
    ...(parameters.length > 0 && { parameters }),
  }
}

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const listOf = (items: Schema): Schema => ({ type: 'array', items })

const content = (schema: Schema): Schema => ({ 'application/json': { schema } })
export const jsonBody = (schema: Schema): Schema => ({ required: true, content: content(schema) })
export const ok = (schema: Schema, description = 'OK'): Record<string, Schema> => ({
  200: { description, content: content(schema) },
  ...REFUSED,
})

/** The errors of every operation. */
export const REFUSED: Record<string, Schema> = {
  400: { $ref: '#/components/responses/Refused' },
  401: { $ref: '#/components/responses/Refused' },
  403: { $ref: '#/components/responses/Refused' },
  404: { $ref: '#/components/responses/Refused' },
}

/** The schema that `RESPONSES` refers to. */
export const REFUSAL: Record<string, Schema> = {
  Refusal: {
    type: 'object',
    properties: {
      error: { type: 'string' },
      message: { type: 'string' },
      msg: { type: 'string' },
      details: { type: 'object', additionalProperties: true },
      errors: {
        type: 'array',
        items: { type: 'object', additionalProperties: true },
        description: 'What of the body is not allowed, in the words of JSON Schema',
      },
    },
  },
}

export const RESPONSES: Record<string, Schema> = {
  Refused: { description: 'Why it was refused', content: content(ref('Refusal')) },
}

/** What a zod schema accepts, as a schema of OpenAPI 3.0. Checks in code are not part of it. */
export const inputSchema = (schema: ZodType): Schema => toSchema(schema, 'input')

/** The values that a zod schema describes, as a schema of OpenAPI 3.0. */
export const outputSchema = (schema: ZodType): Schema => toSchema(schema, 'output')

function toSchema(schema: ZodType, io: 'input' | 'output'): Schema {
  return z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // A nullable enum must list null.
      if (jsonSchema.nullable === true && jsonSchema.enum && !jsonSchema.enum.includes(null))
        jsonSchema.enum = [...jsonSchema.enum, null]
      // Bounds of every integer.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      // Answers may get further properties.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  }) as Schema
}

/** The parameters of a query that a zod schema accepts. */
export function queryParameters(query: ZodObject): Schema[] {
  const { properties = {}, required = [] } = inputSchema(query) as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    ...(description !== undefined && { description }),
    schema,
  }))
}

/** The bytes of a file. */
export const FILE: Schema = { type: 'string', format: 'binary' }
