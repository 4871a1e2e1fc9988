/** The media type of a request's body without its parameters, in lower case: types ignore case (RFC 9110 §8.3.1). */
export const mediaTypeOf = ({ headers }: Pick<Request, 'headers'>): string =>
  (headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
