import { z } from 'zod';

/** The members of a report that is divided by a property of the requests: the same figures in total, by group, and of the rest. */
export function groupedFigures<Figures extends z.ZodRawShape>(figures: Figures) {
  return {
    total: z.strictObject(figures).meta({ description: 'Everything that passes the filters.' }),
    groups: z
      .array(
        z.strictObject({
          group: z.string().nullable().meta({
            description:
              'The value, or the id of the key, project or member who minted the key. Null for requests that have none: no error, no known key, no such member, no metadata under that name.',
          }),
          name: z.string().nullable().meta({
            description:
              'The current name of the key or project, or the e-mail of the member; null if it has none. Else the same as group.',
          }),
          ...figures,
        }),
      )
      .meta({ description: 'The one with the most requests first.' }),
    other: z
      .strictObject({ groups: z.int().meta({ description: 'How many.' }), ...figures })
      .nullable()
      .meta({ description: 'The groups beyond limit, together; null if there are none.' }),
  };
}
