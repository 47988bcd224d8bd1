import { getMetadataStorage, type ValidationArguments, ValidationTypes } from 'class-validator';

type Payload = Record<string, unknown>;
type Check = (payload: Payload) => boolean;
type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

const checks = new Map<new () => object, Check>();

/**
 * Whether a payload satisfies every rule of its class. Evaluates only the rules that class-validator collected from the
 * decorators: preparing error messages takes several times as long, and valid messages need none. False means only that
 * class-validator itself has to check; an unknown type of rule always gives false.
 */
export function keepsRules(type: new () => object, payload: object): boolean {
  let check = checks.get(type);
  if (!check) {
    check = compile(type);
    checks.set(type, check);
  }
  return check(payload as Payload);
}

function compile(type: new () => object): Check {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  if (rules.length === 0 || rules.some((rule) => !isKnown(rule))) return () => false;
  const properties = [...new Set(rules.map((rule) => rule.propertyName))].map((property) => {
    const own = rules.filter((rule) => rule.propertyName === property);
    const conditions = own.filter(isCondition).map(conditionOf);
    const tests = own.filter((rule) => !isCondition(rule)).flatMap(testsOf);
    return { property, conditions, tests };
  });
  return (payload) =>
    properties.every(({ property, conditions, tests }) => {
      const value = payload[property];
      return (
        conditions.some((applies) => !applies(payload, value)) || tests.every((test) => test(payload, value))
      );
    });
}

type Test = (payload: Payload, value: unknown) => boolean;

function isKnown(rule: Metadata): boolean {
  const plain = !rule.each && !rule.validateIf;
  return isCondition(rule) || (rule.type === ValidationTypes.CUSTOM_VALIDATION && plain);
}

/** A condition such as `@IsOptional()`: the other rules of the property apply only if it holds. */
function isCondition(rule: Metadata): boolean {
  return rule.type === ValidationTypes.CONDITIONAL_VALIDATION;
}

function conditionOf(rule: Metadata): Test {
  return rule.constraints[0] as Test;
}

function testsOf({ constraintCls, constraints, propertyName: property }: Metadata): Test[] {
  return getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .map(({ instance }) => (payload, value) => {
      const args: ValidationArguments = { value, constraints, targetName: '', object: payload, property };
      return instance.validate(value, args) === true;
    });
}
