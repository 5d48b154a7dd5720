import pulumi
import lab

before = pulumi.ResourceHook("before", lambda args: None)
after = pulumi.ResourceHook("after", lambda args: None)
both = pulumi.ResourceHookBinding(before_delete=[before], after_delete=[after])
a = lab.Thing("a", pulumi.ResourceOptions(hooks=both), value=1)
lab.Thing("b", pulumi.ResourceOptions(depends_on=[a]), value=2)
