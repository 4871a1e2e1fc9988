import { z } from 'zod'

// biome-ignore lint/suspicious/noExplicitAny: a document of OpenAPI is read here as it comes
type Part = any

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** The keywords of a schema of OpenAPI 3.0 (https://spec.openapis.org/oas/v3.0.3#schema-object). */
const KEYWORDS = new Set(
  (
    'title multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems ' +
    'uniqueItems maxProperties minProperties required enum type allOf oneOf anyOf not items properties ' +
    'additionalProperties description format default nullable discriminator readOnly writeOnly xml externalDocs example ' +
    'deprecated'
  ).split(' '),
)
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object']

/** What OpenAPI 3.0 does not allow in a document, of what documents of the server have. */
export function problemsOfDocument(document: Part): string[] {
  const problems: string[] = []
  const require = (holds: unknown, problem: string) => {
    if (!holds) problems.push(problem)
  }
  require(/^3\.0\.\d$/.test(document.openapi), 'openapi')
  require(document.info?.title && document.info.version, 'info')
  const ids = new Set<string>()
  for (const [path, item] of Object.entries<Part>(document.paths)) {
    require(path.startsWith('/'), path)
    for (const [method, operation] of Object.entries<Part>(item)) {
      const at = `${method} ${path}`
      require(METHODS.includes(method), at)
      const { operationId, parameters = [], requestBody, responses } = operation
      require(operationId === undefined || !ids.has(operationId), `${at}: operationId ${operationId}`)
      ids.add(operationId)
      checkParameters(at, path, parameters)
      if (requestBody) checkContent(`${at} body`, requestBody.content)
      require(!(method === 'get' && requestBody), `${at}: body`)
      require(Object.keys(responses ?? {}).length > 0, `${at}: no responses`)
      for (const [status, given] of Object.entries<Part>(responses ?? {})) {
        require(/^([1-5](\d\d|XX)|default)$/.test(status), `${at}: ${status}`)
        const response = resolve(given)
        require(typeof response?.description === 'string', `${at} ${status}: description`)
        if (response?.content) checkContent(`${at} ${status}`, response.content)
      }
      for (const key of Object.keys(operation)) {
        const isKnown =
          /^(tags|summary|description|operationId|parameters|requestBody|responses|security|deprecated)$/
        require(isKnown.test(key), `${at}: ${key}`)
      }
    }
  }
  for (const [name, schema] of Object.entries<Part>(document.components?.schemas ?? {}))
    checkSchema(name, schema)
  return problems

  function resolve(part: Part): Part {
    if (typeof part?.$ref !== 'string') return part
    const found = part.$ref
      .slice(2)
      .split('/')
      .reduce((at: Part, key: string) => at?.[key], document)
    require(found !== undefined, `${part.$ref} leads nowhere`)
    return found
  }

  function checkParameters(at: string, path: string, parameters: Part[]): void {
    const all = parameters.map(resolve)
    const names = all.map(({ name, in: place }) => `${place} ${name}`)
    require(new Set(names).size === names.length, `${at}: a parameter twice of ${names}`)
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => `path ${name}`)
    for (const name of inPath) require(names.includes(name), `${at}: ${name} is missing`)
    for (const { name, in: place, required, schema, content } of all) {
      require(['path', 'query', 'header', 'cookie'].includes(place), `${at}: ${name} is in ${place}`)
      if (place === 'path')
        require(required === true && inPath.includes(`path ${name}`), `${at}: ${name} is not of the path`)
      require((schema === undefined) !== (content === undefined), `${at}: schema of ${name}`)
      if (schema) checkSchema(`${at} ${name}`, schema)
      if (content) checkContent(`${at} ${name}`, content)
    }
  }

  function checkContent(at: string, content: Part): void {
    require(Object.keys(content ?? {}).length > 0, `${at}: no content`)
    for (const [type, { schema }] of Object.entries<Part>(content ?? {})) {
      require(/^\w+\/[\w.+-]+$/.test(type), `${at}: ${type}`)
      checkSchema(`${at} ${type}`, schema)
    }
  }

  function checkSchema(at: string, schema: Part): void {
    require(typeof schema === 'object' && schema !== null, `${at}: no schema`)
    if (schema?.$ref) {
      resolve(schema)
      return
    }
    const { type, items, enum: values, nullable, required, default: initial } = schema
    for (const key of Object.keys(schema)) require(KEYWORDS.has(key), `${at}: ${key}`)
    require(type === undefined || TYPES.includes(type), `${at}: type ${JSON.stringify(type)}`)
    require(type !== 'array' || items, `${at}: no items`)
    require(!values || values.includes(null) === (nullable === true), `${at}: null in the enum`)
    require(!values || initial === undefined || values.includes(initial), `${at}: default ${initial}`)
    require(required === undefined || (Array.isArray(required) && required.length > 0), `${at}: required`)
    const inner = [schema.allOf, schema.anyOf, schema.oneOf, Object.values(schema.properties ?? {})].flatMap(
      (some) => some ?? [],
    )
    if (typeof schema.additionalProperties === 'object') inner.push(schema.additionalProperties)
    for (const [index, each] of [...inner, ...[items, schema.not].filter(Boolean)].entries())
      checkSchema(`${at}/${index}`, each)
  }
}

/** True if a schema of OpenAPI 3.0 without references allows a value. */
export const allows = (schema: object, value: unknown): boolean =>
  z.fromJSONSchema(schema as z.core.JSONSchema.BaseSchema, { defaultTarget: 'openapi-3.0' }).safeParse(value)
    .success
